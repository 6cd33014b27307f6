/** Live, its releases and every revision as plain copies: what random histories of a project must lead to. */
import { expect } from 'vitest'
import type { Release } from '../../src/features/projects/release.ts'
import type { Random } from '../support/random.ts'
import type { Bench, Ref } from './workbench.ts'

type Texts = Record<string, string>

interface ModelVersion {
  uuid: string
  number: number
  /** The complete set at each revision. */
  revisions: Texts[]
}

interface ModelRelease extends Pick<Release, 'kind' | 'returnsTo'> {
  number: number
  revision: number
}

const paths = ['a', 'b', 'c', 'd', 'e']

/** Plays one history, and compares everything that can be read with the copies. */
export async function playHistory(bench: Bench, steps: number, random: Random): Promise<void> {
  const versions: ModelVersion[] = []
  const releases: ModelRelease[] = []
  const mine: Record<string, string | null> = { b: 'mine', e: null }
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  const numbered = (number: number) => versions[number - 1] as ModelVersion
  const served = () => releases.at(-1) as ModelRelease
  const textsOf = ({ number, revision }: ModelRelease) => numbered(number).revisions[revision] as Texts
  const release = (kind: Release['kind'], number: number, returnsTo: number | null = releases.length || null) =>
    releases.push({ kind, number, revision: numbered(number).revisions.length - 1, returnsTo })

  async function publish(): Promise<void> {
    const draft = versions.length === 0 ? bench.draft : await bench.newDraft()
    const texts = versions.length === 0 ? {} : { ...textsOf(served()) }
    for (let change = Math.floor(random() * 3); change > 0; change -= 1) {
      const path = pick(paths)
      const content = String(Math.floor(random() * 9))
      if (random() < 0.3 && path in texts) {
        await bench.remove(draft, path)
        delete texts[path]
      } else {
        await bench.put(draft, path, content)
        texts[path] = content
      }
    }
    const { uuid, number } = await bench.publish(draft)
    expect(number).toBe(versions.length + 1)
    versions.push({ uuid, number: versions.length + 1, revisions: [texts] })
    release('publish', versions.length)
  }

  async function edit(): Promise<void> {
    const { number, uuid, revisions } = pick(versions)
    const [path, content] = [pick(paths), String(Math.floor(random() * 9))]
    const before = revisions.at(-1) as Texts
    await bench.put({ uuid }, path, content, { force: true })
    if (before[path] === content) return
    revisions.push({ ...before, [path]: content })
    if (served().number === number) release('edit', number)
  }

  async function rollBack(): Promise<void> {
    const seq = random() < 0.6 ? served().returnsTo : 1 + Math.floor(random() * releases.length)
    if (seq === null) return expect(bench.rollBack()).rejects.toMatchObject({ reason: 'nothing-to-return-to' })
    const named = releases[seq - 1] as ModelRelease
    const { uuid, revisions } = numbered(named.number)
    const to = pick([seq, `${uuid}@${named.revision}`, uuid])
    const matches = (one: ModelRelease) =>
      one.number === named.number && (to === uuid || one.revision === named.revision)
    const target = to === seq ? named : (releases.findLast(matches) as ModelRelease)
    const { number, revision } = served()
    const { release: made } = await bench.rollBack(to === served().returnsTo ? {} : { to })
    if (target.number === number && target.revision === revision) return expect(made).toBeNull()
    const isCurrent = to === uuid ? target.revision === revisions.length - 1 : named.revision === revisions.length - 1
    // Texts are copied only if live does not serve them. The model has no uuids, so it cannot predict when the server
    // finds so.
    if (made === null) {
      expect([isCurrent, to === served().returnsTo]).toEqual([false, false])
      return expect(textsOf(served())).toEqual(textsOf(target))
    }
    if (!isCurrent) {
      const restored = { uuid: made.version.uuid, number: versions.length + 1 }
      versions.push({ ...restored, revisions: [textsOf(target)] })
    }
    release('rollback', isCurrent ? target.number : versions.length, target.returnsTo)
    expect(await bench.texts('live')).toEqual(textsOf(target))
  }

  await publish()
  const overlay = await bench.newDraft()
  await bench.put(overlay, 'e', 'gone')
  await bench.remove(overlay, 'e')
  await bench.put(overlay, 'b', 'mine')
  for (let step = 0; step < steps; step += 1) await pick([publish, publish, edit, edit, rollBack, rollBack])()

  for (const { uuid, revisions } of versions) {
    expect(await bench.texts({ uuid })).toEqual(revisions.at(-1))
    for (const [revision, texts] of revisions.entries()) {
      expect(await bench.texts({ uuid: `${uuid}@${revision}` })).toEqual(texts)
    }
  }
  const shown = { ...textsOf(served()), ...mine }
  expect(await bench.texts(overlay)).toEqual(
    Object.fromEntries(Object.entries(shown).filter(([, text]) => text !== null)),
  )
  await expectDiff(bench, overlay, versions)
  const stored = (await bench.releases()).reverse()
  expect(stored.map(({ seq }) => seq)).toEqual(releases.map((_, index) => index + 1))
  expect(stored.map(briefly)).toEqual(releases)
  expect(stored.map(({ from }) => from?.number ?? null)).toEqual([
    null,
    ...releases.slice(0, -1).map(({ number }) => number),
  ])
}

function briefly({ kind, returnsTo, version }: Release): ModelRelease {
  return { kind, number: version.number, revision: version.revision, returnsTo }
}

/** The diff finds its paths by intervals, so it is compared with the texts of both sides. */
async function expectDiff(bench: Bench, overlay: Ref, versions: readonly ModelVersion[]): Promise<void> {
  const newest = versions.at(-1) as ModelVersion
  const sides: [Ref, Ref][] = [
    [overlay, newest],
    [{ uuid: `${newest.uuid}@0` }, overlay],
    ...versions.slice(0, 2).map(({ uuid }): [Ref, Ref] => [{ uuid }, { uuid: `${uuid}@0` }]),
  ]
  for (const [head, base] of sides) {
    const { changes } = await bench.diff(head, base)
    const [now, then] = [await bench.texts(head), await bench.texts(base)]
    const differing = [...new Set([...Object.keys(now), ...Object.keys(then)])].filter(
      (path) => now[path] !== then[path],
    )
    expect(changes.map(({ path }) => path)).toEqual(differing.sort())
  }
}
