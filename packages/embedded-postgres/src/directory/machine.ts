/** Facts about this machine and its file systems that a lock needs. */
import { readFileSync, statfsSync } from 'node:fs'

/**
 * Types of file systems on a local block device, and tmpfs, as in Linux's `magic.h`. Mounting the device on two machines
 * destroys such a file system. Network file systems, FUSE, virtiofs, 9p and overlayfs are not in the list on purpose.
 */
const MOUNTED_BY_ONE_KERNEL = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x01021994, // tmpfs
])

export function isMountedByOneKernel(path: string): boolean {
  return process.platform === 'linux' && MOUNTED_BY_ONE_KERNEL.has(statfsSync(path).type)
}

/** Identifies the running kernel. All containers of a machine share it. */
export function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}
