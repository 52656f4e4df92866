// Builds the npm packages: `pitree` itself, and a package with the binary for each given system.
//   node npm/build.mjs DIR [linux-x64=FILE] [linux-arm64=FILE] [darwin-x64=FILE] [darwin-arm64=FILE] [win32-x64=FILE]
// PITREE_PI=DIR takes extensions/pitree.ts and skills/ from another folder.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(here);
const [out, ...given] = process.argv.slice(2);
if (!out) fail("usage: node npm/build.mjs DIR [PLATFORM=FILE]...");

const cargo = readFileSync(join(repository, "Cargo.toml"), "utf8");
const field = (name) => cargo.match(new RegExp(`^${name} = "(.*)"$`, "m"))?.[1];
const version = field("version");
// Unset before the first release. npm requires this form for trusted publishing.
const address = field("repository");
const addresses = address && { repository: { type: "git", url: `git+${address}.git` }, homepage: field("homepage"), bugs: `${address}/issues` };

function fail(reason) {
  console.error(`npm/build.mjs: ${reason}`);
  process.exit(1);
}

function pack(dir, manifest) {
  // scripts/release/licenses writes the last one.
  const licenses = ["LICENSE", "assets/syntaxes-licenses.md", "target/third-party-licenses.txt"].map((file) => join(repository, file));
  for (const file of licenses.filter(existsSync)) copyFileSync(file, join(dir, basename(file)));
  writeFileSync(join(dir, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(out)], { cwd: dir, stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" });
}

function copied(from, to) {
  if (!existsSync(from)) fail(`${from} does not exist`);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
}

mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "pitree-npm-"));
try {
  const common = { version, license: field("license"), ...addresses };
  for (const one of given) {
    const [platform, file] = one.split(/=(.*)/);
    if (!platforms.includes(platform) || !file) fail(`not PLATFORM=FILE with one of ${platforms.join(", ")}: ${one}`);
    const [os, cpu] = platform.split("-");
    const dir = join(work, platform);
    const binary = join(dir, "bin", os === "win32" ? "pitree.exe" : "pitree");
    copied(file, binary);
    chmodSync(binary, 0o755);
    writeFileSync(join(dir, "README.md"), `The binary of pitree ${version} for ${platform}. Install \`pitree\` instead.\n`);
    pack(dir, { name: `pitree-${platform}`, description: `The binary of pitree for ${platform}`, ...common, os: [os], cpu: [cpu] });
  }

  const dir = join(work, "pitree");
  const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  copied(join(here, "bin"), join(dir, "bin"));
  const pi = process.env.PITREE_PI;
  copied(pi ? join(pi, "pitree.ts") : join(repository, "assets/pi/pitree.ts"), join(dir, "extensions/pitree.ts"));
  copied(pi ? join(pi, "skills") : join(repository, "skills"), join(dir, "skills"));
  copied(join(repository, "docs/man"), join(dir, "man"));
  copyFileSync(join(repository, "README.md"), join(dir, "README.md"));
  const optionalDependencies = Object.fromEntries(platforms.map((platform) => [`pitree-${platform}`, version]));
  pack(dir, { ...manifest, ...common, man: readdirSync(join(dir, "man")).sort().map((page) => `./man/${page}`), optionalDependencies });
} finally {
  rmSync(work, { recursive: true });
}
