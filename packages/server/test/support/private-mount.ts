/** Private file systems for tests that fill a disk or cut its power. Such tests require Linux and root. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PrivateMount {
  path: string
  fill(bytes?: number): void
  empty(): void
  close(): void
}

/** Returns whether the tests are skipped, and prints the reason if they are. */
function isSkippedWithout(what: string, tests: string, attempt: () => boolean): boolean {
  if (process.platform === 'linux' && process.getuid?.() === 0 && attempt()) return false
  console.warn(`\n*** SKIPPED: ${tests}. This machine does not allow ${what}. ***\n`)
  return true
}

export function isSkippedWithoutTmpfs(tests: string): boolean {
  return isSkippedWithout('a tmpfs of a limited size', tests, () => {
    try {
      tmpfsOf(1).close()
      return true
    } catch {
      return false
    }
  })
}

export function isSkippedWithoutLoop(tests: string): boolean {
  return isSkippedWithout('a loop-mounted image', tests, () => {
    try {
      ext4Of(8).close()
      return true
    } catch {
      return false
    }
  })
}

export function tmpfsOf(megabytes: number): PrivateMount {
  return mounted(['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs'])
}

/** An ext4 file system in an image file. A copy of that file is the state after a power cut. */
export function ext4Of(megabytes: number): PrivateMount & { image: string } {
  const folder = mkdtempSync(join(tmpdir(), 'stet-test-image-'))
  const image = join(folder, 'image')
  try {
    execFileSync('truncate', ['-s', `${megabytes}M`, image])
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'ignore' })
    const mount = loopOf(image)
    return {
      ...mount,
      image,
      close() {
        mount.close()
        rmSync(folder, { recursive: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
}

export function loopOf(image: string): PrivateMount {
  return mounted(['-o', 'loop', image])
}

function mounted(args: string[]): PrivateMount {
  const path = mkdtempSync(join(tmpdir(), 'stet-test-mount-'))
  try {
    execFileSync('mount', [...args, path], { stdio: 'ignore' })
  } catch (error) {
    rmSync(path, { recursive: true })
    throw error
  }
  const ballast = join(path, 'ballast')
  return {
    path,
    fill(bytes = 0) {
      const { bavail, bsize } = statfsSync(path)
      const file = openSync(ballast, 'a')
      try {
        // The kernel shortens a write that does not fit, so small writes fill the rest until ENOSPC.
        const block = Buffer.alloc(1024 * 1024)
        for (let left = bavail * bsize - bytes; left > 0; left -= block.length)
          writeSync(file, block, 0, Math.min(left, block.length))
        while (bytes === 0) writeSync(file, block, 0, 4096)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    empty: () => unlinkSync(ballast),
    close() {
      execFileSync('umount', [path])
      rmSync(path, { recursive: true })
    },
  }
}
