/** Live and one draft as plain maps of prompts: what random sequences of moves and edits must lead to. */
import type { Change } from '@stet/contract/vocabulary'
import { expect } from 'vitest'
import { hashContent } from '../../src/features/documents/check-document.ts'
import type { Version } from '../../src/features/projects/project.ts'
import type { TreeItem } from '../../src/features/versions/read-tree.ts'
import type { Random } from '../support/random.ts'
import type { Bench, Ref } from './workbench.ts'

interface Prompt {
  id: string
  text: string
}

type Prompts = Map<string, Prompt>

/** `from` is the path in live that the draft has moved the prompt from. */
type Own = Prompt & { from: string | null }

const paths = ['a', 'b', 'c', 'd', 'e']
const texts = new Map(['a', 'b', 'c', '0', '1', '2', '3', '4'].map((text) => [hashContent(text), text]))

/** Plays one sequence, and compares the draft with the maps after each step, and all versions at the end. */
export async function playMoves(bench: Bench, steps: number, random: Random): Promise<void> {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  const newText = () => String(Math.floor(random() * 5))
  const versions: { uuid: string; prompts: Prompts }[] = []
  let live: Prompts = new Map()
  let draft: Version = bench.draft
  /** The draft's prompts at the paths that it has touched; none after a deletion. */
  let own = new Map<string, Own>()
  /** The prompts that the draft has deleted last at the paths. Writing there brings them back. */
  const deleted = new Map<string, Own>()
  /** Live's text when the draft first touched the path. */
  let bases = new Map<string, string | null>()

  const shown = (path: string): Prompt | undefined => (bases.has(path) ? own.get(path) : live.get(path))
  const all = (): Prompts =>
    new Map(paths.flatMap((path) => (shown(path) ? [[path, plain(shown(path) as Prompt)]] : [])))
  const plain = ({ id, text }: Prompt): Prompt => ({ id, text })
  const movedTo = (path: string) => [...own].find(([, { from }]) => from === path)
  const touch = (path: string) => {
    if (!bases.has(path)) bases.set(path, live.get(path)?.text ?? null)
  }
  const drop = (path: string) => {
    bases.delete(path)
    own.delete(path)
    deleted.delete(path)
  }
  /** The deleted prompt of the path, unless the draft shows it elsewhere. */
  const returning = (path: string): Own | undefined => {
    const prompt = deleted.get(path)
    return prompt && ![...all().values()].some(({ id }) => id === prompt.id) ? prompt : undefined
  }

  function originOf(path: string): string | null {
    if (!bases.has(path)) return path
    return own.get(path)?.from ?? (!movedTo(path) && bases.get(path) !== null ? path : null)
  }

  /** All moves happen at once. */
  function move(moves: readonly { from: string; to: string; text?: string }[]): void {
    const moving = moves.map(({ from, to, text }) => {
      const prompt = shown(from) as Prompt
      return { to, prompt: { ...prompt, text: text ?? prompt.text }, origin: originOf(from) }
    })
    const keeps = moves.map(({ from }) => bases.get(from) !== null || movedTo(from) !== undefined)
    for (const [index, { from }] of moves.entries()) {
      own.delete(from)
      deleted.delete(from)
      if (!keeps[index] || (!live.has(from) && bases.get(from) === null)) drop(from)
      else touch(from)
    }
    for (const { to, prompt, origin } of moving) {
      touch(to)
      const isBack = origin === to
      if (isBack && prompt.text === live.get(to)?.text && prompt.text === bases.get(to)) drop(to)
      else own.set(to, { ...prompt, from: isBack ? null : origin })
      deleted.delete(to)
    }
  }

  async function pushMoves(ring: readonly string[]): Promise<void> {
    const moves = ring.map((from, index) => {
      return { from, to: ring[(index + 1) % ring.length] as string, ...(random() < 0.3 && { text: newText() }) }
    })
    const changes = moves.map(({ from, to, text }): Change => {
      return { path: to, from, status: 'moved', ...(text !== undefined && { content: text }) }
    })
    const { brokenReferences } = await bench.push(draft, changes)
    expect(brokenReferences).toEqual([])
    // The same swap without hashes is a repetition.
    const isDone = ({ from, to, text }: (typeof moves)[number]) => {
      const { from: origin, text: moved } = own.get(to) ?? {}
      return origin === from && (text ?? moved) === moved
    }
    if (!moves.every(isDone)) move(moves)
  }

  const play = {
    async write() {
      const [path, text] = [pick(paths), newText()]
      const before = shown(path)
      const { documentUuid: id } = await bench.put(draft, path, text)
      if (before?.text === text) return
      const isElsewhere = movedTo(path) !== undefined
      const back = returning(path)
      touch(path)
      if (before || back) expect(id).toBe((before ?? back)?.id)
      else {
        expect([...own.values()].map((prompt) => prompt.id)).not.toContain(id)
        if (isElsewhere) expect(id).not.toBe(live.get(path)?.id)
      }
      own.set(path, { id, text, from: (own.get(path) ?? back)?.from ?? null })
      deleted.delete(path)
    },
    async remove() {
      const path = pick(paths)
      const before = shown(path)
      if (!before) return expect(bench.remove(draft, path)).rejects.toMatchObject({ reason: 'unknown-document' })
      expect((await bench.remove(draft, path)).documentUuid).toBe(before.id)
      touch(path)
      deleted.set(path, { ...before, from: own.get(path)?.from ?? null })
      own.delete(path)
    },
    async move() {
      const [from, to] = [pick(paths), pick(paths)]
      if (from === to) return
      const moving = bench.move(draft, from, to)
      if (shown(from) && !shown(to)) {
        expect(await moving).toMatchObject({ path: to, documentUuid: shown(from)?.id, content: shown(from)?.text })
        move([{ from, to }])
      } else if (shown(from)) await expect(moving).rejects.toMatchObject({ reason: 'path-taken' })
      else if (own.get(to)?.from === from) expect((await moving).documentUuid).toBe(own.get(to)?.id)
      else await expect(moving).rejects.toMatchObject({ reason: 'unknown-document' })
    },
    async rotate() {
      const ring = paths.filter(shown).slice(random() < 0.5 ? -2 : -3)
      if (ring.length < 2) return
      // A path where live had nothing at first shows live's prompt again, so it is not free.
      const isFree = ring.every((path) => bases.get(path) !== null || movedTo(path) || !live.has(path))
      if (isFree) await pushMoves(ring)
    },
    async revert() {
      const path = pick(paths)
      const reverted = new Set([path])
      for (const each of reverted) {
        const { from } = own.get(each) ?? ((each === path && returning(path)) || {})
        for (const other of [from, movedTo(each)?.[0]]) if (other) reverted.add(other)
      }
      await bench.revert(draft, [path])
      for (const each of reverted) drop(each)
      // A prompt that only the draft had returns as a text with any uuid.
      const restored = (await promptsOf(draft)).get(path)
      if (!restored || live.has(path)) return
      touch(path)
      own.set(path, { ...restored, from: null })
    },
    async publish() {
      await expectConflicts()
      const next = published()
      if (conflicts().length > 0) {
        const refused = bench.publish(draft)
        await expect(refused).rejects.toMatchObject({ reason: 'live-changed' })
        const details = (await refused.catch((error) => error)).details.conflicts
        expect(details.map(({ path }: { path: string }) => path)).toEqual(conflicts())
      }
      const { uuid } = await bench.publish(draft, { force: true })
      live = await adopted(next)
      versions.push({ uuid, prompts: live })
      draft = await bench.newDraft()
      own = new Map()
      bases = new Map()
      deleted.clear()
    },
    async changeLive() {
      const other = await bench.newDraft()
      const next = new Map(live)
      const [path, to, text] = [pick(paths), pick(paths), newText()]
      const prompt = next.get(path)
      if (prompt && random() < 0.3) {
        await bench.remove(other, path)
        next.delete(path)
      } else if (prompt && !next.has(to) && random() < 0.5) {
        await bench.move(other, path, to)
        next.delete(path)
        next.set(to, prompt)
      } else {
        const { documentUuid: id } = await bench.put(other, path, text)
        next.set(path, { id, text })
      }
      const { uuid } = await bench.publish(other)
      live = next
      versions.push({ uuid, prompts: live })
    },
    async rollBack() {
      const { uuid, prompts } = pick(versions)
      await bench.rollBack({ to: uuid })
      live = prompts
    },
  }

  /**
   * Returns live after the publication. A uuid that live has elsewhere is replaced by a new one, and so is that of one of
   * two prompts, after live has moved a prompt that the draft has moved too.
   */
  function published(): Map<string, Prompt & { isCopy?: boolean }> {
    const isMoving = (path: string) => (own.get(path)?.from ?? null) !== null || movedTo(path) !== undefined
    const entries = [...all()].map(([path, { id, text }]): [string, Prompt & { isCopy?: boolean }] => {
      const old = live.get(path)
      if (!bases.has(path) || (old && !isMoving(path))) return [path, { id: old?.id ?? id, text, isCopy: false }]
      if ([...own].some(([other, prompt]) => other !== path && prompt.id === id)) return [path, { id, text }]
      const { from = null } = own.get(path) ?? {}
      const isCopy = [...live].some(([other, prompt]) => prompt.id === id && other !== from)
      return [path, { id, text, isCopy }]
    })
    return new Map(entries)
  }

  async function adopted(expected: ReturnType<typeof published>): Promise<Prompts> {
    const stored = await promptsOf('live')
    expect([...stored].map(([path, { text }]) => [path, text])).toEqual(
      [...expected].map(([path, { text }]) => [path, text]),
    )
    for (const [path, { id, isCopy }] of expected)
      if (isCopy !== undefined) expect(stored.get(path)?.id === id, path).toBe(!isCopy)
    expectUnique(stored)
    return stored
  }

  function conflicts(): string[] {
    return [...bases]
      .flatMap(([path, base]) => {
        const [now, moved] = [live.get(path)?.text ?? null, movedTo(path)]
        if (base === now) return []
        if (moved) return moved[1].text === now ? [] : [path]
        const isChange = (shown(path)?.text ?? null) !== now || (now !== null && own.get(path)?.from)
        return isChange ? [path] : []
      })
      .sort()
  }

  async function expectConflicts(): Promise<void> {
    const { changes } = await bench.diff(draft)
    const flagged = conflicts().flatMap((path) => [path, movedTo(path)?.[0] ?? path])
    const listed = changes.filter(({ conflict }) => conflict).map(({ path }) => path)
    expect(listed).toEqual([...new Set(flagged)].filter((path) => shown(path) || live.has(path)).sort())
  }

  const promptsOf = async (ref: Ref): Promise<Prompts> => promptsIn(await bench.tree(ref))

  async function compare(): Promise<void> {
    const items = await bench.tree(draft)
    expect(promptsIn(items)).toEqual(all())
    // After a conflict, live may have a prompt at another path than the draft.
    if (conflicts().length === 0 && !isReplaced()) expectUnique(all())
    const changed = items.filter(({ change }) => change !== null)
    const { changes } = await bench.diff(draft)
    expect(changes.map(({ path, status }) => [path, status])).toEqual(changed.map(({ path, change }) => [path, change]))
    for (const { path, movedFrom } of items) expect(movedFrom?.path ?? null, path).toBe(own.get(path)?.from ?? null)
    for (const { path, movedTo: to } of items) expect(to, path).toBe(live.has(path) ? movedTo(path)?.[0] : undefined)
  }

  /** True if live has another prompt than the one that the draft has touched, perhaps with an equal text. */
  function isReplaced(): boolean {
    const places = new Map([...live].map(([path, { id }]) => [id, path]))
    return [...own].some(([path, { id, from }]) => (places.get(id) ?? from ?? path) !== (from ?? path))
  }

  await bench.push(
    draft,
    paths.slice(0, 3).map((path) => ({ path, status: 'added', content: path })),
  )
  const first = await bench.publish(draft)
  live = await promptsOf('live')
  versions.push({ uuid: first.uuid, prompts: live })
  draft = await bench.newDraft()
  const { write, remove, move: moveOne, rotate, revert, publish, changeLive, rollBack } = play
  const often = [write, moveOne, moveOne, moveOne, rotate, revert]
  for (let step = 0; step < steps; step += 1) {
    await pick([...often, ...often, write, remove, publish, changeLive, rollBack])()
    await compare()
  }
  await publish()
  for (const { uuid, prompts } of versions) expect(await promptsOf({ uuid })).toEqual(prompts)
}

function promptsIn(items: readonly TreeItem[]): Prompts {
  const shown = items.filter(({ change }) => change !== 'deleted')
  return new Map(
    shown.map(({ path, documentUuid: id, contentHash }) => [path, { id, text: texts.get(contentHash) ?? '' }]),
  )
}

function expectUnique(prompts: Prompts): void {
  const ids = [...prompts.values()].map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
}
