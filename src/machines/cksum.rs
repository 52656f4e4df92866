//! The checksum of the POSIX program `cksum`, which every machine has.

use std::fmt;
use std::io;

/// The polynomial of the CRC.
const POLYNOMIAL: u32 = 0x04c1_1db7;

/// The CRC of each byte.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000_0000 == 0 { crc << 1 } else { (crc << 1) ^ POLYNOMIAL };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// A checksum of the bytes written to it. Its display form is that of the program: the sum and the length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cksum {
    crc: u32,
    bytes: u64,
}

impl Cksum {
    fn add(&mut self, byte: u8) {
        self.crc = (self.crc << 8) ^ TABLE[usize::from((self.crc >> 24) as u8 ^ byte)];
    }
}

impl io::Write for Cksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|&byte| self.add(byte));
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Cksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sum = *self;
        let mut length = self.bytes;
        while length > 0 {
            sum.add((length & 0xff) as u8);
            length >>= 8;
        }
        write!(f, "{} {}", !sum.crc, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn sums_are_those_of_the_program() {
        let sum = |bytes: &[u8]| {
            let mut sum = Cksum::default();
            sum.write_all(bytes).unwrap();
            sum.to_string()
        };
        // Printed by cksum of GNU coreutils 9.
        assert_eq!(sum(b""), "4294967295 0");
        assert_eq!(sum(b"123456789"), "930766865 9");
        assert_eq!(sum(&[b'x'; 300]), "3786917833 300");
    }
}
