/** Small file systems and containers for tests. Linux as root only. */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  path: string
  fill(): void
  empty(): void
  close(): void
}

/** `unshare` options that isolate a process like a container. The program ends with `unshare`. */
export const container = ['--net', '--pid', '--mount', '--uts', '--fork', '--mount-proc', '--kill-child']

export function isSkippedWithoutContainers(tests: string): boolean {
  return isSkippedWithout('namespaces of its own', tests, () => {
    return spawnSync('unshare', [...container, 'true'], { stdio: 'ignore' }).status === 0
  })
}

export function isSkippedWithoutSmallDisk(tests: string): boolean {
  return isSkippedWithout('a tmpfs of a limited size', tests, () => {
    try {
      smallDisk(1).close()
      return true
    } catch {
      return false
    }
  })
}

function isSkippedWithout(needed: string, tests: string, attempt: () => boolean): boolean {
  if (process.platform === 'linux' && process.getuid?.() === 0 && attempt()) return false
  console.warn(`\n*** SKIPPED: ${tests}. This machine does not allow ${needed}. ***\n`)
  return true
}

/** Mounts an empty file system of this type. */
export function mounted(type: 'tmpfs' | 'ramfs', options = 'mode=700'): { path: string; unmount(): void } {
  const path = mkdtempSync(join(tmpdir(), 'embedded-postgres-test-disk-'))
  try {
    execFileSync('mount', ['-t', type, '-o', options, type, path], { stdio: 'ignore' })
  } catch (error) {
    rmSync(path, { recursive: true })
    throw error
  }
  return {
    path,
    unmount() {
      execFileSync('umount', [path])
      rmSync(path, { recursive: true })
    },
  }
}

export function smallDisk(megabytes: number): SmallDisk {
  const { path, unmount } = mounted('tmpfs', `size=${megabytes}m`)
  const ballast = join(path, 'ballast')
  return {
    path,
    fill: () => fillWith(ballast),
    empty: () => unlinkSync(ballast),
    close: unmount,
  }
}

function fillWith(ballast: string): void {
  const { bavail, bsize } = statfsSync(join(ballast, '..'))
  const block = Buffer.alloc(1024 * 1024)
  const file = openSync(ballast, 'a')
  try {
    for (let left = bavail * bsize; left > 0; left -= block.length)
      writeSync(file, block, 0, Math.min(left, block.length))
    for (;;) writeSync(file, block, 0, 4096)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
