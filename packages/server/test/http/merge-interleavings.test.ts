/**
 * Two people change one prompt: by autosave, pull and push in a draft that they share, and by drafts of their own that
 * they publish. No line of either side may be lost, unless its author got a conflict that contains the line.
 */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { count, playCases, seed, timeFor } from '../support/counts.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { createTestProject, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { api } = await sharedServer()

const cases = count(4, 500)
const stepsPerCase = 24
const path = 'a'
const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const isMarker = (line: string) => /^(<{7}|={7}|>{7})/.test(line)

interface Conflict {
  merged: string
  actual?: string
  liveHash?: string
}

const conflictIn = (body: object) => (body as { details: { conflicts: [Conflict] } }).details.conflicts[0]

/** The lines that must be in the shared text: those that were saved and not removed since. */
class Ledger {
  readonly #kept = new Set<string>()
  #made = 0

  newLine(name: string): string {
    this.#made += 1
    return `${name} ${this.#made}`
  }

  /** The person saw `before` and saved `after`. */
  note(before: string, after: string): void {
    const now = new Set(after.split('\n'))
    for (const line of before.split('\n')) if (!now.has(line)) this.#kept.delete(line)
    const old = new Set(before.split('\n'))
    for (const line of now) if (!old.has(line)) this.#kept.add(line)
  }

  expectIn(text: string): void {
    const lines = new Set(text.split('\n'))
    expect([...this.#kept].filter((line) => !lines.has(line))).toEqual([])
  }
}

/** Replaces a line or adds one. Each new line is unique. */
function edit(text: string, random: Random, line: string): string {
  const lines = text.split('\n')
  const at = Math.floor(random() * (lines.length - 1))
  lines.splice(at, random() < 0.5 ? 1 : 0, line)
  return lines.join('\n')
}

/** Both sides of each conflict stay. */
const resolved = (merged: string) =>
  merged
    .split('\n')
    .filter((line) => !isMarker(line))
    .join('\n')

const start = () => `${Array.from({ length: 8 }, (_, index) => `line ${index + 1}`).join('\n')}\n`

/** A person's copy of the text, and the text of the server that it is based on. */
class Copy {
  readonly #ledger: Ledger
  readonly #version: string
  readonly #name: string
  readonly #random: Random
  text: string
  #base: string

  constructor(ledger: Ledger, version: string, name: string, random: Random) {
    this.#ledger = ledger
    this.#version = version
    this.#name = name
    this.#random = random
    this.text = this.#base = start()
  }

  edit(): void {
    this.text = edit(this.text, this.#random, this.#ledger.newLine(this.#name))
  }

  async autosave(): Promise<void> {
    const { text } = this
    const body = { path, prompt: text, merge: true, baseHash: hash(this.#base), base: this.#base }
    const { status, body: saved } = await api('POST', `${this.#version}/documents/create-or-update`, { body })
    if (status === 409) return this.#resolve(text, saved)
    expect(status).toBe(200)
    this.#take(text, String(saved['content']))
  }

  async push(): Promise<void> {
    const { text } = this
    const change = { path, status: 'modified', content: text, baseHash: hash(this.#base), base: this.#base }
    const { status, body } = await api('POST', `${this.#version}/push`, { body: { changes: [change], merge: true } })
    if (status === 409) return this.#resolve(text, body)
    expect(status).toBe(200)
    const [merged] = (body['merged'] as { content: string }[] | undefined) ?? []
    this.#take(text, merged?.content ?? text)
  }

  /** Merges the server's text into this copy, without saving it. */
  async pull(): Promise<void> {
    const item = { path, prompt: this.text, baseHash: hash(this.#base), base: this.#base }
    const { body } = await api('POST', `${this.#version}/documents/merge`, { body: { items: [item] } })
    const [merged] = body as unknown as [{ content: string; theirsHash: string; conflicts: unknown[] }]
    const before = this.text
    const theirs = await textOf(this.#version)
    // Someone saved between the two requests.
    if (hash(theirs) !== merged.theirsHash) return
    this.text = merged.conflicts.length > 0 ? resolved(merged.content) : merged.content
    for (const line of linesOnlyIn(before, this.#base)) expect(this.text.split('\n')).toContain(line)
    this.#base = theirs
  }

  #take(sent: string, stored: string): void {
    this.#ledger.note(this.#base, sent)
    this.text = this.#base = stored
  }

  async #resolve(sent: string, refused: object): Promise<void> {
    const { merged, actual = '' } = conflictIn(refused)
    for (const line of linesOnlyIn(sent, this.#base)) expect(merged.split('\n')).toContain(line)
    const theirs = await textOf(this.#version)
    if (hash(theirs) !== actual) return
    this.text = resolved(merged)
    this.#base = theirs
  }
}

const linesOnlyIn = (text: string, other: string) => {
  const known = new Set(other.split('\n'))
  return text.split('\n').filter((line) => !known.has(line))
}

const textOf = async (version: string) => String((await api('GET', `${version}/documents/${path}`)).body['content'])

async function shareDraft(project: TestProject, random: Random): Promise<void> {
  const draft = await project.newDraft()
  const ledger = new Ledger()
  const people = ['Ana', 'Leo'].map((name) => new Copy(ledger, draft, name, random))
  for (let step = 0; step < stepsPerCase; step += 1) {
    const acts = people.map((one) => [() => one.edit(), () => one.autosave(), () => one.push(), () => one.pull()])
    const chosen = acts.map((own) => own[Math.floor(random() * own.length)])
    // Sometimes both act at once.
    if (random() < 0.3) await Promise.all(chosen.map((act) => act?.()))
    else await chosen[Math.floor(random() * 2)]?.()
    ledger.expectIn(await textOf(draft))
  }
}

async function publishDrafts(project: TestProject, random: Random): Promise<void> {
  const ledger = new Ledger()
  await Promise.all(
    ['Ana', 'Leo'].map(async (name) => {
      for (let round = 0; round < stepsPerCase / 4; round += 1) {
        const draft = await project.newDraft()
        const base = await textOf(project.live)
        let text = base
        for (let edits = 0; edits < 2; edits += 1) text = edit(text, random, ledger.newLine(name))
        // Live may have changed since: its text is then the base of the draft's change, and must be merged.
        const body = { path, prompt: text, merge: true, baseHash: hash(base) }
        const saved = await api('POST', `${draft}/documents/create-or-update`, { body })
        if (saved.status === 409) continue
        if (random() < 0.5) await api('POST', `${draft}/update`)
        const published = await api('POST', `${draft}/publish`, { body: { merge: true } })
        if (published.status === 200) ledger.note(base, text)
        else for (const line of linesOnlyIn(text, base)) expect(conflictIn(published.body).merged).toContain(line)
      }
    }),
  )
  ledger.expectIn(await textOf(project.live))
}

it(
  'loses no line',
  async () => {
    await playCases('interleavings of two people', { cases, lanes: 2 }, async (each) => {
      const random = seededRandom(seed + each)
      const project = await createTestProject(api, { [path]: start() })
      await (each % 2 === 0 ? shareDraft(project, random) : publishDrafts(project, random))
    }).catch((error: unknown) => {
      throw new Error(`Repeat with STET_TEST_SEED=${seed}`, { cause: error })
    })
  },
  timeFor(cases, 10_000),
)
