//! A JSON serializer for printed lines. Unlike that of `serde_json`, it escapes characters that are unsafe on a
//! terminal, and it copies runs of plain characters as a whole.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Error as _};
use serde_json::Error;

use crate::base::text::is_unsafe;

/// Appends JSON to bytes.
pub(super) struct JsonWriter<'a>(pub(super) &'a mut Vec<u8>);

/// The number of bytes of a text that are checked at once.
const AT_ONCE: usize = 8;

/// The number of bytes of a long text that are checked at once, for which compilers use vector instructions.
const MANY_AT_ONCE: usize = 32;

/// Returns `true` if all bytes are printable ASCII that needs no escaping.
fn is_plain<const LEN: usize>(bytes: &[u8; LEN]) -> bool {
    !bytes.iter().fold(false, |is_odd, byte| is_odd | !matches!(byte, b' '..0x7f) | matches!(byte, b'"' | b'\\'))
}

/// Returns the length of a run of plain bytes at the start of a text. Another byte follows within the next eight,
/// unless the text ends.
fn plain_start(bytes: &[u8]) -> usize {
    let many = plain_chunks::<MANY_AT_ONCE>(bytes);
    let plain = many + plain_chunks::<AT_ONCE>(&bytes[many..]);
    let rest = &bytes[plain..];
    if rest.len() >= AT_ONCE {
        return plain;
    }
    let mut last = [b' '; AT_ONCE];
    last[..rest.len()].copy_from_slice(rest);
    if is_plain(&last) { bytes.len() } else { plain }
}

/// Returns the length of the plain chunks at the start of a text.
fn plain_chunks<const LEN: usize>(bytes: &[u8]) -> usize {
    bytes.as_chunks::<LEN>().0.iter().take_while(|chunk| is_plain(chunk)).count() * LEN
}

/// Appends a text in quotes. Escapes characters that are unsafe on a terminal, which does not change the value. They
/// include all control characters, which JSON must escape.
fn push_text(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    out.push(b'"');
    loop {
        let (plain, other) = rest.split_at(plain_start(rest.as_bytes()));
        out.extend_from_slice(plain.as_bytes());
        let end = other.char_indices().take_while(|(at, _)| *at < AT_ONCE);
        let mut len = 0;
        for (at, c) in end {
            len = at + c.len_utf8();
            match matches!(c, '"' | '\\') || is_unsafe(c) {
                true => push_escaped(out, c),
                false => out.extend_from_slice(&other.as_bytes()[at..len]),
            }
        }
        if len == other.len() {
            break;
        }
        rest = &other[len..];
    }
    out.push(b'"');
}

/// Appends a character in escaped form.
fn push_escaped(out: &mut Vec<u8>, c: char) {
    let short = match c {
        '"' | '\\' => c as u8,
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        _ => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend(format!("\\u{unit:04x}").bytes());
            }
            return;
        }
    };
    out.extend([b'\\', short]);
}

/// A list or an object being written.
pub(super) struct Compound<'a> {
    out: &'a mut Vec<u8>,
    /// The closing brackets.
    end: &'static str,
    is_empty: bool,
}

impl<'a> Compound<'a> {
    fn new(out: &'a mut Vec<u8>, start: u8, end: &'static str) -> Self {
        out.push(start);
        Self { out, end, is_empty: true }
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
    }

    fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(JsonWriter(self.out))
    }

    fn put_item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
        self.separate();
        self.put(item)
    }

    fn put_field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let start: &[u8] = if std::mem::take(&mut self.is_empty) { b"\"" } else { b",\"" };
        self.out.extend_from_slice(start);
        self.out.extend_from_slice(name.as_bytes()); // an identifier
        self.out.extend_from_slice(b"\":");
        self.put(value)
    }

    fn close(self) {
        self.out.extend_from_slice(self.end.as_bytes());
    }
}

impl<'a> JsonWriter<'a> {
    /// Starts the value of a variant: an object whose only field has the name of the variant.
    fn variant(self, name: &str) -> &'a mut Vec<u8> {
        self.0.push(b'{');
        push_text(self.0, name);
        self.0.push(b':');
        self.0
    }

    fn number<T: Serialize>(self, number: T) -> Result<(), Error> {
        serde_json::to_writer(self.0, &number)
    }
}

/// Implements methods that write numbers.
macro_rules! numbers {
    ($($method:ident: $type:ty),*) => { $(
        fn $method(self, number: $type) -> Result<(), Error> {
            self.number(number)
        }
    )* };
}

impl<'a> ser::Serializer for JsonWriter<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_u8: u8,
        serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32, serialize_f64: f64
    }

    fn serialize_bool(self, is: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if is { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_char(self, c: char) -> Result<(), Error> {
        self.serialize_str(c.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        push_text(self.0, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        bytes.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Error> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let out = self.variant(name);
        value.serialize(JsonWriter(out))?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(Compound::new(self.0, b'[', "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        Ok(Compound::new(self.variant(name), b'[', "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(Compound::new(self.0, b'{', "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        Ok(Compound::new(self.variant(name), b'{', "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.serialize_str(&value.to_string())
    }
}

/// Implements traits of lists and objects: the method that writes a part, with its arguments before the value, and the
/// method that it calls.
macro_rules! compounds {
    ($($name:ident: $method:ident($($key:ident: $type:ty)?) => $put:ident),*) => { $(
        impl ser::$name for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($key: $type,)? value: &T) -> Result<(), Error> {
                self.$put($($key,)? value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )* };
}

compounds! {
    SerializeSeq: serialize_element() => put_item,
    SerializeTuple: serialize_element() => put_item,
    SerializeTupleStruct: serialize_field() => put_item,
    SerializeTupleVariant: serialize_field() => put_item,
    SerializeStruct: serialize_field(name: &'static str) => put_field,
    SerializeStructVariant: serialize_field(name: &'static str) => put_field
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        let start = self.out.len();
        self.put(key)?;
        match self.out.get(start) {
            Some(b'"') => Ok(()),
            _ => Err(Error::custom("a key must be a text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        self.put(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    enum Form {
        Plain,
        Wrapped(f32),
        Listed(u8, Option<bool>),
        WithFields { one: char, two: () },
    }

    #[derive(Serialize)]
    struct Everything {
        text: String,
        numbers: (i8, u16, i64, u64, f64),
        forms: Vec<Form>,
        texts: BTreeMap<String, Option<String>>,
        nothing: [(); 0],
    }

    fn written(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        value.serialize(JsonWriter(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn values_are_written_as_by_the_library(
            text in any::<String>(),
            long in "[ -~é\n]{60,140}",
            numbers in any::<(i8, u16, i64, u64, f64)>(),
            two in any::<f32>(),
        ) {
            let forms = vec![
                Form::Plain,
                Form::Wrapped(two),
                Form::Listed(1, None),
                Form::WithFields { one: '\u{85}', two: () },
            ];
            let texts = BTreeMap::from([(long.clone(), None), (text.clone(), Some(long))]);
            let value = Everything { text, numbers, forms, texts, nothing: [] };
            let library = serde_json::to_string(&value).unwrap();
            let mut safe = String::new();
            for c in library.chars() {
                match is_unsafe(c) {
                    true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe += &format!("\\u{unit:04x}")),
                    false => safe.push(c),
                }
            }
            prop_assert_eq!(written(&value), safe);
        }
    }

    #[test]
    fn keys_are_texts() {
        assert!(BTreeMap::from([(1, 2)]).serialize(JsonWriter(&mut Vec::new())).is_err());
        assert_eq!(written(&BTreeMap::from([("a\u{1b}\u{9b}\t", f64::NAN)])), r#"{"a\u001b\u009b\t":null}"#);
    }
}
