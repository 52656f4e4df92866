// Serves the packages that npm/build.mjs wrote to DIR as an npm registry on this machine, and prints its address.
//   node npm/registry.mjs DIR
//   npx --registry ADDRESS --yes pitree --demo
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [dir] = process.argv.slice(2);
if (!dir) {
  console.error("usage: node npm/registry.mjs DIR");
  process.exit(2);
}

const server = createServer((request, response) => {
  const asked = decodeURIComponent(request.url.slice(1));
  if (tarballs.has(asked)) return response.end(tarballs.get(asked));
  if (!documents.has(asked)) return response.writeHead(404).end("{}");
  response.setHeader("content-type", "application/json");
  response.end(documents.get(asked));
});

const tarballs = new Map();
const documents = new Map();
server.listen(0, "127.0.0.1", () => {
  const address = `http://127.0.0.1:${server.address().port}`;
  for (const file of readdirSync(dir).filter((name) => name.endsWith(".tgz"))) {
    const bytes = readFileSync(join(dir, file));
    const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(dir, file), "package/package.json"], { encoding: "utf8" }));
    const { name, version } = manifest;
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const dist = { tarball: `${address}/${file}`, integrity };
    tarballs.set(file, bytes);
    documents.set(name, JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } }));
  }
  console.log(address);
});
