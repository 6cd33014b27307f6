import { mergeLines } from '@stet/template/merge'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { count } from '../../server/test/support/counts.ts'
import {
  type Autosave,
  type AutosaveEvent,
  type Base,
  type Effect,
  type Failure,
  isUnsaved,
  type LeftText,
  type Save,
  type Stored,
  startAutosave,
  step,
} from '../src/editor/autosave.ts'

const hashOf = (text: string) => `#${text}`
/** Over all runs of the property. */
const seen = { merges: 0, mergesUnderTyping: 0, conflicts: 0 }

/**
 * A server that merges, a network that delays and drops, a browser's storage, a user and a colleague. The lines of a
 * text have marks, each typed once. A mark is lost if neither the server, nor the editor, nor the storage has it.
 */
class World {
  stored = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl'
  state: Autosave = startAutosave(this.read(), 'draft', '0')
  copy: LeftText | null = null
  /** Copies of pages that have ended. */
  offers: LeftText[] = []
  timer: 'quiet' | 'retry' | null = null
  requests: { page: number; save: Save; base: Base; response: AutosaveEvent | null }[] = []
  reads: { page: number; stored: Stored | null }[] = []
  polls: { page: number; epoch: number; stored: Stored | null }[] = []
  moving = false
  page = 0
  marks = 0
  expected = new Set<string>()
  replays = new Map<string, AutosaveEvent>()

  read(): Stored {
    return { text: this.stored, contentHash: hashOf(this.stored) }
  }

  send(event: AutosaveEvent): void {
    const [next, effects] = step(this.state, event)
    if (next.conflict && !this.state.conflict) seen.conflicts++
    this.state = next
    for (const effect of effects) this.perform(effect)
  }

  perform(effect: Effect): void {
    if (effect.do === 'send') {
      expect(this.requests.filter(({ page }) => page === this.page)).toEqual([])
      this.requests.push({ page: this.page, save: effect.save, base: effect.base, response: null })
    }
    if (effect.do === 'read') this.reads.push({ page: this.page, stored: null })
    if (effect.do === 'wait') this.timer = effect.for
    if (effect.do === 'stop-waiting') this.timer = null
    if (effect.do === 'find-draft') this.moving = true
    if (effect.do === 'keep') this.copy = this.left()
    if (effect.do === 'forget') this.copy = null
  }

  left(): LeftText {
    const { text, base, sending, unsure } = this.state
    const request = sending ?? unsure
    const kept = { text, baseHash: base.contentHash, ...(base.text !== null && { base: base.text }) }
    return { ...kept, ...(request && { unsure: request }) }
  }

  /** Puts a new mark into a line, or into a new one. */
  insert(text: string, at: number): string {
    const mark = `<${++this.marks}>`
    this.expected.add(mark)
    const lines = text.split('\n')
    const line = at % lines.length
    lines.splice(line, at % 2, at % 2 ? `${lines[line]}${mark}` : mark)
    return lines.join('\n')
  }

  type(at: number): void {
    this.send({ on: 'typed', text: this.insert(this.state.text, at) })
  }

  /** Removes a mark that only this user has seen. */
  undo(): void {
    const mark = marksOf(this.state.text).find((one) => !this.state.base.text?.includes(one))
    if (!mark) return
    this.expected.delete(mark)
    this.send({ on: 'typed', text: this.state.text.replace(mark, '') })
  }

  colleague(at: number): void {
    this.stored = this.insert(this.stored, at)
  }

  /** A request reaches the server, also when the page that sent it is gone. */
  arrive(at: number): void {
    const waiting = this.requests.filter(({ response }) => !response)
    const request = waiting[at % waiting.length]
    if (!request) return
    const { base, save } = request
    const { key } = save
    request.response = this.replays.get(key) ?? null
    if (request.response) return
    if (base.text !== null) expect(base.contentHash).toBe(hashOf(base.text))
    const isCurrent = base.contentHash === hashOf(this.stored)
    const sides = { base: base.text ?? undefined, mine: save.text, theirs: this.stored }
    const { text, regions } = isCurrent ? { text: save.text, regions: [] } : mergeLines(sides)
    if (regions.length > 0) {
      request.response = { on: 'failed', key, failure: { kind: 'changed' } }
      return
    }
    this.stored = text
    request.response = { on: 'saved', key, stored: this.read(), isMerged: text !== save.text }
    this.replays.set(key, request.response)
    if (text === save.text) return
    seen.merges++
    if (this.state.text !== save.text) seen.mergesUnderTyping++
  }

  respond(at: number): void {
    const ready = this.requests.filter(({ response }) => response)
    const request = ready[at % ready.length]
    if (!request?.response) return
    this.requests = this.requests.filter((other) => other !== request)
    if (request.page === this.page) this.send(request.response)
  }

  /** The request or its response is lost, or something before the server's work refuses it. */
  fail(at: number, failure: Failure): void {
    const own = this.requests.filter(
      ({ page, response }) => page === this.page && (failure.kind === 'offline' || !response),
    )
    const request = own[at % own.length]
    if (!request) return
    this.requests = this.requests.filter((other) => other !== request)
    // A lost request may still be on its way.
    if (failure.kind === 'offline' && !request.response && at % 2) this.requests.push({ ...request, page: -1 })
    this.send({ on: 'failed', key: request.save.key, failure })
  }

  answerRead(at: number, isLost: boolean): void {
    const read = this.reads[at % this.reads.length]
    if (!read) return
    if (!read.stored && !isLost) {
      read.stored = this.read()
      return
    }
    this.reads = this.reads.filter((other) => other !== read)
    if (read.page !== this.page) return
    if (read.stored) this.send({ on: 'read', stored: read.stored })
    else this.send({ on: 'read-failed', failure: { kind: 'offline' } })
  }

  poll(at: number): void {
    const poll = this.polls[at % this.polls.length]
    if (!poll) this.polls.push({ page: this.page, epoch: this.state.epoch, stored: null })
    else if (!poll.stored) poll.stored = this.read()
    else {
      this.polls = this.polls.filter((other) => other !== poll)
      if (poll.page === this.page) this.send({ on: 'polled', epoch: poll.epoch, stored: poll.stored })
    }
  }

  tick(): void {
    const { timer } = this
    this.timer = null
    if (timer) this.send({ on: timer })
  }

  /** The page ends without a word, and another one opens. A copy of an earlier release has no base. */
  reload(isOld: boolean): void {
    const { text = '', baseHash = '' } = this.copy ?? {}
    if (this.copy) this.offers.push(isOld ? { text, baseHash } : this.copy)
    this.copy = null
    this.timer = null
    this.moving = false
    this.page++
    this.state = startAutosave(this.read(), 'draft', `${this.page}`)
  }

  restore(): void {
    const offer = this.offers[0]
    if (!offer) return
    this.send({ on: 'restored', ...offer })
    if (this.state.text === offer.text) this.offers.shift()
  }

  resolve(at: number): void {
    const { conflict, text } = this.state
    if (!conflict) return
    const missing = marksOf(text).filter((mark) => !conflict.text.includes(mark))
    this.send({ on: 'resolved', text: at % 2 ? conflict.text + missing.join('') : missing.join('') + conflict.text })
  }

  move(failure: Failure | null): void {
    if (!this.moving) return
    this.moving = false
    if (failure?.kind === 'offline') this.send({ on: 'move-failed', failure })
    else this.send({ on: 'moved' })
  }

  check(): void {
    const everything = [this.stored, this.state.text, this.copy?.text, ...this.offers.map(({ text }) => text)].join('')
    for (const mark of this.expected) if (!everything.includes(mark)) throw new Error(`${mark} is lost`)
    if (this.state.text !== this.state.base.text && this.copy?.text !== this.state.text)
      throw new Error('unsaved text is not in storage')
  }

  /** The network heals and the user finishes. */
  finish(): void {
    for (let round = 0; round < 200; round++) {
      for (const _ of [...this.requests]) this.arrive(0)
      for (const _ of [...this.requests]) this.respond(0)
      for (const _ of [...this.reads, ...this.reads]) this.answerRead(0, false)
      this.move(null)
      this.send({ on: 'signed-in' })
      this.resolve(0)
      this.tick()
      if (!isUnsaved(this.state)) this.restore()
      this.send({ on: 'flush' })
      this.check()
      const { conflict, reading } = this.state
      if (!isUnsaved(this.state) && !conflict && !reading && this.offers.length === 0) break
    }
    for (const _ of [...this.polls, ...this.polls]) this.poll(0)
    for (const _ of [1, 2, 3]) this.poll(0)
  }
}

function marksOf(text: string): string[] {
  return text.match(/<\d+>/g) ?? []
}

const position = fc.nat(31)
const actions = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('type' as const), at: position }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('arrive' as const, 'respond' as const), at: position }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('tick' as const), at: position }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('poll' as const, 'colleague' as const), at: position }) },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constantFrom(
        ...(['undo', 'expire', 'flush', 'read', 'lose-read', 'reload', 'restore', 'resolve'] as const),
        ...(['online', 'signed-in', 'published', 'move', 'lose-move'] as const),
        ...(['offline', 'signed-out', 'busy', 'refused', 'not-a-draft'] as const),
      ),
      at: position,
    }),
  },
)
type Action = typeof actions extends fc.Arbitrary<infer T> ? T : never

function act(world: World, { act: name, at }: Action): void {
  const table: Record<Action['act'], () => void> = {
    type: () => world.type(at),
    undo: () => world.undo(),
    tick: () => world.tick(),
    expire: () => world.replays.clear(),
    flush: () => world.send({ on: 'flush' }),
    arrive: () => world.arrive(at),
    respond: () => world.respond(at),
    colleague: () => world.colleague(at),
    poll: () => world.poll(at),
    read: () => world.answerRead(at, false),
    'lose-read': () => world.answerRead(at, true),
    reload: () => world.reload(at % 4 === 0),
    restore: () => world.restore(),
    resolve: () => world.resolve(at),
    online: () => world.send({ on: 'online' }),
    'signed-in': () => world.send({ on: 'signed-in' }),
    published: () => world.send({ on: 'published' }),
    move: () => world.move(null),
    'lose-move': () => world.move({ kind: 'offline' }),
    offline: () => world.fail(at, { kind: 'offline' }),
    'signed-out': () => world.fail(at, { kind: 'signed-out' }),
    busy: () => world.fail(at, { kind: 'busy', retryMs: 2000 }),
    refused: () => world.fail(at, { kind: 'refused', message: 'too large' }),
    'not-a-draft': () => world.fail(at, { kind: 'not-a-draft' }),
  }
  table[name]()
}

test('interleavings of keys, responses, merges, 409s, drops and reloads lose no character', () => {
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 60, size: 'max' }), (script) => {
      const world = new World()
      for (const action of script) {
        act(world, action)
        world.check()
      }
      world.finish()
      expect(world.state.conflict).toBe(null)
      expect(world.offers).toEqual([])
      expect(world.state.text).toBe(world.stored)
      expect(world.copy).toBe(null)
      for (const mark of world.expected) expect(world.stored.split(mark)).toHaveLength(2)
    }),
    { numRuns: count(2_000, 10_000) },
  )
  expect(Math.min(seen.merges, seen.mergesUnderTyping, seen.conflicts)).toBeGreaterThan(100)
})

test.each<[string, (world: World) => void]>([
  ['typed while it is sent', (world) => world.type(13)],
  [
    'typed after its response was lost',
    (world) => {
      world.arrive(0)
      world.fail(0, { kind: 'offline' })
      world.type(13)
    },
  ],
  [
    'typed when the page ended before its response',
    (world) => {
      world.type(13)
      world.arrive(0)
      world.reload(false)
      world.restore()
    },
  ],
  [
    'typed when the draft was published before its response',
    (world) => {
      world.arrive(0)
      world.fail(0, { kind: 'offline' })
      world.type(13)
      world.replays.clear()
      world.send({ on: 'published' })
    },
  ],
])('text of the same line, %s, is no conflict of the user with themselves', (_, happen) => {
  const world = new World()
  const conflicts = seen.conflicts
  world.type(1)
  world.tick()
  world.colleague(7)
  happen(world)
  world.finish()
  expect(seen.conflicts).toBe(conflicts)
  expect(world.stored).toBe('a\nb<1><3>\nc\nd\ne\nf\ng\nh<2>\ni\nj\nk\nl')
  expect(world.state.text).toBe(world.stored)
})

test('text that a colleague stores while one types is merged at once, without a pause of the typing', () => {
  const world = new World()
  world.type(1)
  world.colleague(7)
  for (const _ of [1, 2, 3]) world.poll(0)
  expect(world.requests).toHaveLength(1)
})
