#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 of the initramfs: mounts the root, puts /overlay into it, and becomes systemd.

PATH=/bin
mount -t devtmpfs dev /dev
while read -r module; do
	insmod "/modules/$module.ko" || exec sh
done </modules/order
tries=0
until [ -b /dev/vda ] || [ $tries = 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
mkdir /new
mount -t ext4 -o noatime /dev/vda /new || exec sh
cp -af /overlay/. /new/ # after a reboot they are there
rm -r /overlay
mount --move /dev /new/dev
exec switch_root /new /sbin/init
