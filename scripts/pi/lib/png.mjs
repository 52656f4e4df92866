// A small real PNG: a bar chart. Stored without compression, so that its bytes do not depend on the zlib version.
import { crc32, deflateSync } from "node:zlib";

function chunk(type, data) {
	const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
	const length = Buffer.alloc(4);
	length.writeUInt32BE(data.length);
	const check = Buffer.alloc(4);
	check.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, check]);
}
/** Draws bars with heights from 0 to 1; returns base64. */
export function barChart(bars, color = [224, 108, 60]) {
	const [step, height] = [4, 20];
	const width = bars.length * step;
	const rows = [];
	for (let y = 0; y < height; y++) {
		const row = Buffer.alloc(1 + width);
		for (let x = 0; x < width; x++) {
			const filled = x % step < step - 1 && height - y <= Math.round(bars[Math.floor(x / step)] * height);
			row[1 + x] = filled ? 1 : 0;
		}
		rows.push(row);
	}
	const head = Buffer.alloc(13);
	head.writeUInt32BE(width, 0);
	head.writeUInt32BE(height, 4);
	head.set([8, 3, 0, 0, 0], 8); // 8 bits per pixel, palette
	return Buffer.concat([
		Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
		chunk("IHDR", head),
		chunk("PLTE", Buffer.from([30, 33, 40, ...color])),
		chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 0 })),
		chunk("IEND", Buffer.alloc(0)),
	]).toString("base64");
}
