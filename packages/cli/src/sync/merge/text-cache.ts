import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '../../io.ts'
import { makeFolder } from '../../settings/write-file.ts'
import { hashText } from '../hash.ts'

const keptMs = 30 * 24 * 60 * 60 * 1000

function textCacheOf(io: Io): string {
  const windows = io.platform === 'win32' ? io.env['LOCALAPPDATA'] : undefined
  return join(io.env['XDG_CACHE_HOME'] || windows || join(io.homeDir, '.cache'), 'stet', 'texts')
}

/** Keeps texts under their hashes, so that a later merge finds its base. Deletes texts that are older than 30 days. */
export async function rememberTexts(texts: Iterable<string>, io: Io): Promise<void> {
  const folder = textCacheOf(io)
  try {
    await makeFolder(folder, 0o700)
    for (const text of texts) await writeFile(join(folder, hashText(text)), text, { mode: 0o600 })
    for (const name of await readdir(folder)) {
      const { mtimeMs } = await stat(join(folder, name))
      if (mtimeMs < Date.now() - keptMs) await rm(join(folder, name))
    }
  } catch {
    // Without a writable home, git and the server may still have the text.
  }
}

/** `hash` may be any text: it comes from the lock. */
export async function recallText(hash: string, io: Io): Promise<string | undefined> {
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined
  const text = await readFile(join(textCacheOf(io), hash), 'utf8').catch(() => undefined)
  return text !== undefined && hashText(text) === hash ? text : undefined
}
