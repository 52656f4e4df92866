# Not run by CI: `nix run .`, `nix develop`.
{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "pitree";
          version = (fromTOML (builtins.readFile ./Cargo.toml)).package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          doCheck = false; # the tests need shells and a terminal
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            installManPage docs/man/*.1
            installShellCompletion assets/completions/pitree.{bash,zsh,fish}
          '';
        };
      });
      devShells = each (pkgs: { default = pkgs.mkShell { packages = [ pkgs.cargo pkgs.rustc pkgs.clippy pkgs.rustfmt ]; }; });
    };
}
