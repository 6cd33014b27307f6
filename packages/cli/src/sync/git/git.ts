import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import type { Stet } from '@stet/sdk'

const execute = promisify(execFile)
const maxOutputBytes = 64 * 1024 * 1024

// In a partial clone, git fetches missing objects. This fetch must not ask for a password or wait forever.
const patience = ['-c', 'http.lowSpeedLimit=1', '-c', 'http.lowSpeedTime=30']
const ssh = 'ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=10'
const environment = () => ({ GIT_SSH_COMMAND: ssh, ...process.env, GIT_TERMINAL_PROMPT: '0' })

/**
 * Returns git's output. Rejects if git is missing, the folder is outside a checkout, or the command fails. There is no
 * timeout, because callers would mistake a timeout for missing history.
 */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('git', [...patience, ...args], {
    cwd: folder,
    env: environment(),
    maxBuffer: maxOutputBytes,
  })
  return stdout.trim()
}

/**
 * Returns whether `commit` is HEAD or one of its ancestors. `commit` may be a hash prefix. A shallow clone lacks older
 * ancestors.
 */
export async function isInHistory(folder: string, commit: string): Promise<boolean> {
  try {
    await git(folder, 'merge-base', '--is-ancestor', commit, 'HEAD')
    return true
  } catch {
    return false
  }
}

export async function isShallow(folder: string): Promise<boolean> {
  return (await git(folder, 'rev-parse', '--is-shallow-repository').catch(() => '')) === 'true'
}

/** Returns the wanted files below a folder at a commit. Names are relative to the folder. */
export async function readFilesOf(
  commit: string,
  folder: string,
  isWanted: (name: string) => boolean,
): Promise<Map<string, Uint8Array>> {
  const listed = await git(folder, 'ls-tree', '-r', '-z', commit, '.')
  const blobs = new Map<string, string>()
  for (const line of listed.split('\0')) {
    const [, id, name] = /^\d+ blob ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? []
    if (id !== undefined && name !== undefined && isWanted(name)) blobs.set(name, id)
  }
  const contents = await readBlobs(folder, [...new Set(blobs.values())])
  const files = new Map<string, Uint8Array>()
  for (const [name, id] of blobs) {
    const bytes = contents.get(id)
    // Some file systems use another Unicode form than the server.
    if (bytes) files.set(name.normalize('NFC'), bytes)
  }
  return files
}

// One git process prints `<id> blob <size>`, the bytes and a line feed for each file.
async function readBlobs(folder: string, ids: readonly string[]): Promise<Map<string, Uint8Array>> {
  const child = spawn('git', [...patience, 'cat-file', '--batch'], {
    cwd: folder,
    env: environment(),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const failed = new Promise<never>((_, reject) => void child.once('error', reject))
  child.stdin.on('error', () => {})
  child.stdin.end(`${ids.join('\n')}\n`)
  const chunks: Buffer[] = []
  const read = (async () => {
    for await (const chunk of child.stdout) chunks.push(chunk)
  })()
  await Promise.race([read, failed])
  const output = Buffer.concat(chunks)
  const contents = new Map<string, Uint8Array>()
  for (let at = 0; at < output.length; ) {
    const lineEnd = output.indexOf(0x0a, at)
    if (lineEnd === -1) break
    const [, id, size] = /^([0-9a-f]+) blob (\d+)$/.exec(output.toString('latin1', at, lineEnd)) ?? []
    at = lineEnd + 1
    if (id === undefined) continue
    contents.set(id, output.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return contents
}

/** Returns the git branch and commit. Outside a checkout, returns a name that contains the key's name. */
export async function defaultDraftName(folder: string, client: Stet): Promise<string> {
  try {
    const branch = await git(folder, 'rev-parse', '--abbrev-ref', 'HEAD')
    const commit = await git(folder, 'rev-parse', '--short', 'HEAD')
    // Shortens only the branch, because `findPublished` later reads the commit from the name.
    return `${branch.slice(0, 255 - commit.length)}@${commit}`
  } catch {
    // Git is missing, or the folder has no checkout or no commit yet.
  }
  return `draft of ${(await client.me()).apiKey.name}`.slice(0, 256)
}
