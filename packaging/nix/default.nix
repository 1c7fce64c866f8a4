# SPDX-License-Identifier: GPL-2.0
#
# nix-build packaging/nix -A tools
# nix-build packaging/nix -A module     for the kernel of nixpkgs; of a host, in configuration.nix:
#     boot.extraModulePackages =
#       [ (import ./mts/packaging/nix { inherit pkgs; kernel = config.boot.kernelPackages.kernel; }).module ];
{
  pkgs ? import <nixpkgs> { },
  kernel ? pkgs.linuxPackages.kernel,
}:

let
  header = builtins.readFile ../../module/version.h;
  version = builtins.elemAt (builtins.split "MTS_VERSION \"([0-9.]+)\"" header) 1;
  common = {
    version = builtins.head version;
    src = pkgs.lib.cleanSource ../..;
  };
in
{
  tools = pkgs.callPackage ./tools.nix { inherit common; };
  module = pkgs.callPackage ./module.nix { inherit common kernel; };
}
