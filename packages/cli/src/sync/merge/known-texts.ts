import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { UnresolvedPrompt, Version } from '@stet/sdk'
import type { Io } from '../../io.ts'
import { makeFolder } from '../../settings/write-file.ts'
import { type Checkout, openCheckout, readPastContents } from '../git/git.ts'
import { hashBytes, hashText } from '../hash.ts'
import { listPrompts } from '../list-prompts.ts'
import { promptEnding } from '../prompt-path.ts'
import type { Workspace } from '../workspace.ts'

/** Searches at most this many publications, because each costs a request. */
const maxVersions = 50

type Texts = ReadonlyMap<string, Pick<UnresolvedPrompt, 'content' | 'contentHash'>>

/** Finds earlier texts of prompts by their hash: in the history of the checkout, in the cache, and on the server. */
export class KnownTexts {
  readonly #workspace: Pick<Workspace, 'client' | 'settings' | 'promptsDir' | 'version'>
  readonly #io: Io
  #checkout: Promise<Checkout | undefined> | undefined
  #published: Promise<Version[]> | undefined
  readonly #listed = new Map<string, Promise<Texts>>()

  constructor(workspace: Pick<Workspace, 'client' | 'settings' | 'promptsDir' | 'version'>, io: Io) {
    this.#workspace = workspace
    this.#io = io
  }

  /** The empty hash means no text. */
  async find(path: string, hash: string): Promise<string | undefined> {
    if (hash === '') return undefined
    return (await this.findHere(path, hash)) ?? this.#findOnServer(path, hash)
  }

  async findHere(path: string, hash: string): Promise<string | undefined> {
    return (await this.#findInGit(path, hash)) ?? recallText(hash, this.#io)
  }

  async #findInGit(path: string, hash: string): Promise<string | undefined> {
    const { promptsDir } = this.#workspace
    this.#checkout ??= openCheckout(promptsDir)
    const checkout = await this.#checkout
    if (!checkout) return undefined
    const contents = await readPastContents(checkout, promptsDir, path + promptEnding)
    return contents.map(hashBytes).find((hashed) => hashed?.hashes.has(hash))?.text
  }

  async #findOnServer(path: string, hash: string): Promise<string | undefined> {
    const { settings, version } = this.#workspace
    const likely = [settings.lock?.version.uuid, version.parentCommitUuid].filter((uuid) => typeof uuid === 'string')
    const published = (await this.#listPublished()).slice(0, maxVersions).map(({ uuid }) => uuid)
    for (const uuid of new Set([...likely, ...published])) {
      const found = await this.#textIn(path, uuid)
      if (found?.contentHash === hash) return found.content
    }
    return undefined
  }

  /**
   * Returns the text that an open draft's change of a prompt builds on, if live had only this one and `liveHash` since
   * the draft was opened. If there are several, any of them may be the base, and a wrong guess would undo edits.
   */
  async findOnlyBase(path: string, liveHash: string): Promise<string | undefined> {
    const { client, version: draft } = this.#workspace
    const others = new Map<string | undefined, string | undefined>()
    const { items } = await client.environments.releases('live', { limit: maxVersions })
    for (const { version, createdAt } of items) {
      const found = await this.#textIn(path, `${version.uuid}@${version.revision}`)
      if (found?.contentHash !== liveHash) others.set(found?.contentHash, found?.content)
      if (others.size > 1) break
      if (createdAt < draft.createdAt && version.uuid === draft.parentCommitUuid) return others.values().next().value
    }
    return undefined
  }

  #listPublished(): Promise<Version[]> {
    this.#published ??= this.#workspace.client.versions.list({ status: 'merged' })
    return this.#published
  }

  async #textIn(path: string, versionUuid: string) {
    const texts = this.#listed.get(versionUuid) ?? this.#listTexts(versionUuid)
    this.#listed.set(versionUuid, texts)
    return (await texts).get(path)
  }

  async #listTexts(versionUuid: string): Promise<Texts> {
    const { NotFoundError } = await import('@stet/sdk')
    try {
      const prompts = await listPrompts(this.#workspace.client, { versionUuid })
      return new Map(prompts.map((prompt) => [prompt.path, prompt]))
    } catch (error) {
      if (error instanceof NotFoundError) return new Map()
      throw error
    }
  }
}

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
