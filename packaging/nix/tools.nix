# SPDX-License-Identifier: GPL-2.0
{
  stdenv,
  lib,
  inih,
  jansson,
  ncurses,
  common,
}:

stdenv.mkDerivation {
  pname = "mts-tools";
  inherit (common) version src;
  buildInputs = [
    inih
    jansson
    ncurses
  ];
  # Each compiler has warnings of its own.
  makeFlags = [
    "WERROR="
    "PREFIX=${placeholder "out"}"
  ];
  buildFlags = [
    "mtsctl"
    "mtsd"
    "libmts"
  ];
  installTargets = [
    "install-mtsd"
    "install-libmts"
  ];
  enableParallelBuilding = true;
  meta = {
    description = "Medium-term scheduler: tool, library, and daemon for hosts without the module";
    license = lib.licenses.gpl2Only;
    platforms = lib.platforms.linux;
    mainProgram = "mtsctl";
  };
}
