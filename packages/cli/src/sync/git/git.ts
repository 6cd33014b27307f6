import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Stet } from '@stet/sdk'

const execute = promisify(execFile)
const maxOutputBytes = 256 * 1024 * 1024

/**
 * The work tree and the `.git` of a checkout. Every call names both. A search by git would also find a bare repository
 * that is committed as ordinary files, and git runs the programs that a repository's configuration names.
 */
export interface Checkout {
  root: string
  /** A folder. In a worktree or a submodule, a file that names the folder. */
  gitDir: string
}

/** Returns the checkout around a folder. Returns undefined outside a checkout, without git, and if git distrusts it. */
export async function openCheckout(folder: string): Promise<Checkout | undefined> {
  try {
    let root = await realpath(folder)
    while (!existsSync(join(root, '.git'))) {
      if (dirname(root) === root) return undefined
      root = dirname(root)
    }
    const checkout = { root, gitDir: join(root, '.git') }
    // With a named repository, git skips `safe.directory`, its check of the owner. A search from the root includes it.
    const [named, found] = await Promise.all([
      git(checkout, ['rev-parse', '--absolute-git-dir']),
      runGit(['-C', root, 'rev-parse', '--absolute-git-dir']),
    ])
    return named === found.toString().trim() ? checkout : undefined
  } catch {
    return undefined
  }
}

/** Returns git's output. Rejects if the command fails. `folder` is inside the checkout and defaults to its root. */
async function git({ root, gitDir }: Checkout, args: readonly string[], folder = root): Promise<string> {
  return (await runGit(inCheckout({ root, gitDir }, folder, args))).toString().trim()
}

const inCheckout = ({ root, gitDir }: Checkout, folder: string, args: readonly string[]): string[] => {
  return ['-C', folder, `--git-dir=${gitDir}`, `--work-tree=${root}`, ...args]
}

// The configuration of a repository belongs to its author. No command here compares files, so git starts neither
// external diffs nor text conversions.
const precautions = ['safe.bareRepository=explicit', 'core.fsmonitor=false', 'core.hooksPath=/dev/null']

/**
 * All calls of git go through this function. There is no timeout, because callers would mistake a timeout for missing
 * history.
 */
async function runGit(args: readonly string[], input = ''): Promise<Buffer> {
  const running = execute('git', ['--no-pager', ...precautions.flatMap((one) => ['-c', one]), ...args], {
    // Windows and a PATH with relative folders would otherwise find a program named git in the checkout.
    cwd: dirname(process.execPath),
    env: environment(),
    encoding: 'buffer',
    maxBuffer: maxOutputBytes,
  })
  running.child.stdin?.on('error', () => {})
  running.child.stdin?.end(input)
  return (await running).stdout
}

// Drops variables that name another repository or a program, such as those of a hook. Keeps the user's configuration,
// which may contain `safe.directory`. A partial clone would fetch missing objects with a program that its configuration
// names. The empty list of protocols also prevents this in releases of git before GIT_NO_LAZY_FETCH.
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG)/i.test(name))
  return {
    ...Object.fromEntries(kept),
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  }
}

/**
 * Returns whether `commit` is HEAD or one of its ancestors. `commit` may be a hash prefix. A shallow clone lacks older
 * ancestors.
 */
export async function isInHistory(checkout: Checkout, commit: string): Promise<boolean> {
  try {
    await git(checkout, ['merge-base', '--is-ancestor', commit, 'HEAD'])
    return true
  } catch {
    return false
  }
}

/** Returns whether the checkout around a folder is shallow or partial. */
export async function lacksHistory(folder: string): Promise<boolean> {
  const checkout = await openCheckout(folder)
  if (!checkout) return false
  if ((await git(checkout, ['rev-parse', '--is-shallow-repository']).catch(() => '')) === 'true') return true
  const promisors = ['config', '--type=bool', '--get-regexp', String.raw`^remote\..*\.promisor$`, 'true']
  return (await git(checkout, promisors).catch(() => '')) !== ''
}

/**
 * Returns the wanted files below a folder at a commit. Names are relative to the folder. Returns no files if a partial
 * clone lacks some of them.
 */
export async function readFilesOf(
  checkout: Checkout,
  commit: string,
  folder: string,
  isWanted: (name: string) => boolean,
): Promise<Map<string, Uint8Array>> {
  const listed = await git(checkout, ['ls-tree', '-r', '-z', commit, '.'], folder).catch(() => '')
  const blobs = new Map<string, string>()
  for (const line of listed.split('\0')) {
    const [, id, name] = /^\d+ blob ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? []
    if (id !== undefined && name !== undefined && isWanted(name)) blobs.set(name, id)
  }
  const contents = await readBlobs(checkout, [...new Set(blobs.values())])
  const files = new Map<string, Uint8Array>()
  for (const [name, id] of blobs) {
    const bytes = contents.get(id)
    // Some file systems use another Unicode form than the server.
    if (bytes) files.set(name.normalize('NFC'), bytes)
  }
  return files
}

/** Commits whose text of a file is read. Each is a change of the file. */
const maxCommits = 50

/** Returns the texts of a file in the history of HEAD, newest first. `name` is relative to the folder. */
export async function readPastContents(checkout: Checkout, folder: string, name: string): Promise<Uint8Array[]> {
  // Not `git log`, which may check signatures with a program that the configuration names.
  const listing = ['--literal-pathspecs', 'rev-list', `--max-count=${maxCommits}`, 'HEAD', '--', name]
  const commits = (await git(checkout, listing, folder).catch(() => '')).split('\n').filter(Boolean)
  const blobs = commits.map((commit) => `${commit}:./${name}`)
  return commits.length === 0 ? [] : [...(await readBlobs(checkout, blobs, folder)).values()]
}

// One git process prints `<id> blob <size>`, the bytes and a line feed for each file. `ids` may be any names of blobs.
async function readBlobs(
  checkout: Checkout,
  ids: readonly string[],
  folder = checkout.root,
): Promise<Map<string, Uint8Array>> {
  const batch = inCheckout(checkout, folder, ['cat-file', '--batch'])
  // In a partial clone, git ends at the first missing file.
  const output = await runGit(batch, `${ids.join('\n')}\n`).catch(() => Buffer.alloc(0))
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
  const checkout = await openCheckout(folder)
  try {
    if (checkout) {
      const branch = await git(checkout, ['rev-parse', '--abbrev-ref', 'HEAD'])
      const commit = await git(checkout, ['rev-parse', '--short', 'HEAD'])
      // Shortens only the branch, because `findPublished` later reads the commit from the name.
      return `${branch.slice(0, 255 - commit.length)}@${commit}`
    }
  } catch {
    // There is no commit yet.
  }
  return `draft of ${(await client.me()).apiKey.name}`.slice(0, 256)
}
