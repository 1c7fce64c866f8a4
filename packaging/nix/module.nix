# SPDX-License-Identifier: GPL-2.0
{
  stdenv,
  lib,
  common,
  kernel,
}:

stdenv.mkDerivation {
  pname = "mts-module";
  version = "${common.version}-${kernel.version}";
  inherit (common) src;
  nativeBuildInputs = kernel.moduleBuildDependencies;
  hardeningDisable = [ "pic" ];
  makeFlags = (kernel.makeFlags or [ ]) ++ [
    "WERROR="
    "KDIR=${kernel.dev}/lib/modules/${kernel.modDirVersion}/build"
  ];
  buildFlags = [ "module" ];
  installPhase = ''
    runHook preInstall
    install -D -m 0644 module/mts.ko "$out/lib/modules/${kernel.modDirVersion}/updates/mts.ko"
    runHook postInstall
  '';
  meta = {
    description = "Medium-term scheduler: kernel module";
    license = lib.licenses.gpl2Only;
    platforms = lib.platforms.linux;
    # module/compat/compat.h
    broken = lib.versionOlder kernel.version "6.1";
  };
}
