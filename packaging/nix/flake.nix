# Nix: nix run path:packaging/nix. The input `pagewise` is the source of a release or a checkout:
# nix build path:packaging/nix --override-input pagewise path:.
{
  description = "Laboratory that measures what memory costs on this machine";

  inputs = {
    nixpkgs.url = "nixpkgs/nixos-unstable";
    pagewise = {
      url = "path:../..";
      flake = false;
    };
  };

  outputs =
    { nixpkgs, pagewise, ... }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      manifest = builtins.fromTOML (builtins.readFile "${pagewise}/Cargo.toml");
      build =
        pkgs:
        pkgs.rustPlatform.buildRustPackage {
          pname = "pagewise";
          version = manifest.workspace.package.version;
          src = pagewise;
          cargoLock.lockFile = "${pagewise}/Cargo.lock";
          nativeBuildInputs = [ pkgs.go pkgs.jdk ];
          # Flags such as -D_FORTIFY_SOURCE would change the measured code.
          hardeningDisable = [ "all" ];
          preBuild = ''
            export GOCACHE=$TMPDIR/go PAGEWISE_PREBUILT=$TMPDIR/prebuilt
            JAVA_HOME=${pkgs.jdk.home} bash packaging/prebuilt.sh "$PAGEWISE_PREBUILT"
          '';
          # The tests measure, start traced processes and mount: none of it in a sandbox.
          doCheck = false;
          postInstall = ''
            $out/bin/pagewise man --out $out/share/man/man1
          '';
          meta = {
            description = manifest.package.description;
            license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.asl20 ];
            mainProgram = "pagewise";
            platforms = systems;
          };
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = build nixpkgs.legacyPackages.${system};
      });
    };
}
