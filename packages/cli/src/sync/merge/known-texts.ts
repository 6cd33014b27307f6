import type { UnresolvedPrompt, Version } from '@stet/sdk'
import type { Io } from '../../io.ts'
import { type Checkout, openCheckout, readPastContents } from '../git/git.ts'
import { hashBytes } from '../hash.ts'
import { listPrompts } from '../list-prompts.ts'
import { promptEnding } from '../prompt-path.ts'
import type { Workspace } from '../workspace.ts'
import { recallText } from './text-cache.ts'

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
    const parent = this.#workspace.version.parentCommitUuid
    const first = parent === null ? undefined : await this.#textIn(path, parent)
    const all = await this.#listPublished()
    const opened = all.find(({ uuid }) => uuid === parent)?.version ?? 0
    const later = all.filter(({ version }) => (version ?? 0) > opened)
    if (later.length > maxVersions) return undefined
    for (const { uuid } of later) {
      const found = await this.#textIn(path, uuid)
      if (found?.contentHash !== first?.contentHash && found?.contentHash !== liveHash) return undefined
    }
    return first?.content
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
