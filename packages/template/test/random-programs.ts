/** Random prompts that use every construct, method and tag of the language. The same seed yields the same prompts. */
import { randomNumbers } from './engine-tree.ts'

export interface RandomProgram {
  content: string
  parameters: Record<string, unknown>
}

const NAMES = ['s', 't', 'n', 'k', 'b', 'e', 'l', 'o', 'f', 'u', 'v', 'w', 'x']
const TEXT_METHODS = 'trim trimStart trimEnd toUpperCase toLowerCase toLocaleUpperCase toLocaleLowerCase toString'
const DATE_CALLS = ['getUTCFullYear()', 'toISOString()', 'getTime()', 'getDay()', 'getUTCHours()', 'toJSON()']
const NUMBER_CALLS = 'toFixed(2) toPrecision(3) toString() toString(16) toFixed() toLocaleString() toFixed(101)'
const FRAGMENTS = [
  'word',
  '\n',
  ' ',
  '\n  ind\n    more\n',
  '&lt;',
  '\\{{ x }}',
  '/* c */',
  '<!-- c -->',
  '<b>x</b>',
  '"',
]

export function* randomPrograms(count: number, seed: number): Generator<RandomProgram> {
  const writer = new ProgramWriter(randomNumbers(seed))
  for (let made = 0; made < count; made += 1) yield writer.program()
}

class ProgramWriter {
  private readonly random: () => number
  private loops = 0

  constructor(random: () => number) {
    this.random = random
  }

  program(): RandomProgram {
    this.loops = 0
    const hasSteps = this.chance(0.35)
    const front = this.chance(0.2) ? '---\nmodel: m\n---\n' : ''
    const blocks = this.times(1, 4, () => this.block(2, { inMessage: false, inStep: !hasSteps }))
    return { content: front + blocks.join(this.pick(['', '\n', ' '])), parameters: this.parameters() }
  }

  private parameters(): Record<string, unknown> {
    const file = { __promptlType: 'file', url: 'https://h/x.pdf', isImage: false, mimeType: 'application/pdf' }
    return {
      s: this.pick(['text', 'a,b,c', '', ' pad ', 'ünï😀', 'x\ny\n  z', '$&$1', '12', 'aaa']),
      t: this.pick(['Hello World', 'b', 'a']),
      n: this.pick([0, 1, 2.5, -3, 1e21, 7]),
      k: this.pick(['a', 'length', 'constructor', '0', 'push', 'b']),
      b: this.chance(0.5),
      e: null,
      l: this.pick<unknown>([[1, 2, 3], [], ['x', 'y'], [[1, [2]], 3], [null, 'q', true], [{ a: 1 }, { a: 2 }]]),
      o: this.pick<unknown>([{ a: 1, b: { c: 'deep', d: [1] } }, {}, { length: 3, at: 'v' }, { toString: 'ts' }]),
      f: this.pick<unknown>([file, { ...file, url: 'data:x', isImage: true }, 'none']),
    }
  }

  private chance(share: number): boolean {
    return this.random() < share
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T
  }

  private pickWord(words: string): string {
    return this.pick(words.split(' '))
  }

  private choose(...makers: (() => string)[]): string {
    return this.pick(makers)()
  }

  private times<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + Math.floor(this.random() * (most - least + 1)) }, make)
  }

  private number(depth: number): string {
    if (depth <= 0) return this.pick(['0', '1', '2', '3', '10', '1.5', '-1', 'n', 'l.length', 's.length'])
    const d = depth - 1
    const operator = this.pickWord('+ - * / % | & ^ << >> >>>')
    return this.choose(
      () => `(${this.number(d)} ${operator} ${this.number(d)})`,
      () => `${this.list(d)}.length`,
      () => `${this.text(d)}.${this.pickWord('indexOf lastIndexOf')}(${this.text(d)})`,
      () =>
        `${this.list(d)}.${this.pickWord('indexOf lastIndexOf')}(${this.value(d)}${this.maybe(() => this.number(0))})`,
      () => `${this.list(d)}.${this.pickWord('push unshift')}(${this.value(d)})`,
      () => `${this.pickWord('- + ~')}${this.value(d)}`.replace('--', '- -').replace('++', '+ +'),
    )
  }

  private maybe(make: () => string): string {
    return this.chance(0.25) ? `, ${make()}` : ''
  }

  private text(depth: number): string {
    if (depth <= 0) return this.pick(['s', 't', 'k', '""', '"a"', '"lo"', '"é😀"', '"x y z"', "'q\\n'", '","'])
    const d = depth - 1
    const inserted = () => this.pick(['"[$&]"', '"$$"', '"$`"', '"$\'"', '"$1"', '"$<a>"', this.value(d)])
    return this.choose(
      () => `(${this.text(d)} + ${this.value(d)})`,
      () => `(${this.value(d)} + ${this.text(d)})`,
      () => `${this.text(d)}.${this.pickWord(TEXT_METHODS)}()`,
      () =>
        `${this.text(d)}.${this.pickWord('slice substring substr')}(${this.number(d)}${this.maybe(() => this.number(d))})`,
      () => `${this.text(d)}.${this.pickWord('replace replaceAll')}(${this.text(d)}, ${inserted()})`,
      () => `${this.text(d)}.concat(${this.value(d)}${this.maybe(() => this.value(d))})`,
      () => `${this.text(d)}.${this.pickWord('charAt at')}(${this.number(d)})`,
      () => `${this.list(d)}.join(${this.chance(0.7) ? this.text(d) : ''})`,
      () => `typeof ${this.value(d)}`,
      () => `(${this.number(d)}).${this.pickWord(NUMBER_CALLS)}`,
      () => `${this.text(d)}[${this.number(d)}]`,
    )
  }

  private list(depth: number): string {
    if (depth <= 0) return this.pick(['l', '[]', '[1, 2]', '["a", "b"]', '[[1], 2]'])
    const d = depth - 1
    const item = (): string => {
      if (this.chance(0.2)) return `...${this.chance(0.8) ? this.list(d) : this.value(d)}`
      return this.chance(0.05) ? '' : this.value(d)
    }
    return this.choose(
      () => `[${this.times(0, 3, item).join(', ')}]`,
      () =>
        `${this.text(d)}.split(${this.pick(['","', '""', '" "', this.text(0)])}${this.maybe(() => this.number(0))})`,
      () => `${this.list(d)}.slice(${this.number(d)}${this.maybe(() => this.number(0))})`,
      () => `${this.list(d)}.concat(${this.value(d)}, ${this.value(d)})`,
      () => `${this.list(d)}.${this.pickWord('reverse flat keys values entries')}()`,
      () => `${this.list(d)}.flat(${this.number(0)})`,
    )
  }

  private object(depth: number): string {
    if (depth <= 0) return this.pick(['o', '{}', '{ a: 1 }', 'o.b'])
    const d = depth - 1
    const property = (): string => {
      if (this.chance(0.2)) return `...${this.chance(0.8) ? this.object(d) : this.value(d)}`
      return `${this.pick(['a', 'b', '"type"', '"x y"', '3', 'c'])}: ${this.value(d)}`
    }
    return `{ ${this.times(0, 3, property).join(', ')} }`
  }

  private condition(depth: number): string {
    if (depth <= 0) return this.pick(['b', 'true', 'false', 'e', 'u', '!s'])
    const d = depth - 1
    return this.choose(
      () => `(${this.value(d)} ${this.pickWord('== != === !== < <= > >=')} ${this.value(d)})`,
      () =>
        `${this.text(d)}.${this.pickWord('includes startsWith endsWith')}(${this.text(d)}${this.maybe(() => this.number(0))})`,
      () => `${this.list(d)}.includes(${this.value(d)})`,
      () => `!${this.value(d)}`,
      () => `(${this.value(d)}).hasOwnProperty(${this.text(d)})`,
    )
  }

  private value(depth: number): string {
    if (depth <= 0) return this.pick([...NAMES, '1', '"a"', 'null', 'true', 'undefined', '[1]'])
    const d = depth - 1
    return this.choose(
      () => this.number(depth),
      () => this.text(depth),
      () => this.list(depth),
      () => `(${this.object(depth)})`,
      () => this.condition(depth),
      () => `(${this.value(d)} ${this.pickWord('&& || ??')} ${this.value(d)})`,
      () => `(${this.condition(d)} ? ${this.value(d)} : ${this.value(d)})`,
      () => `${this.pickWord('o l s u e o.b')}${this.pickWord('?. .')}${this.pickWord('a b length b.c at x')}`,
      () => `${this.pickWord('o l s u')}${this.pick(['?.', ''])}[${this.value(d)}]`,
      () => `(${this.value(d)}, ${this.value(d)})`,
      () => `${this.pickWord('o u s l')}?.${this.pickWord('trim() b?.c b.c.trim() at?.(0) at(0) x.y')}`,
      () => (this.chance(0.2) ? `$now.${this.pick(DATE_CALLS)}` : this.value(0)),
      () => `${this.list(d)}.${this.pickWord('pop() shift() at(0) at(-1)')}`,
      () => (this.chance(0.3) ? `void ${this.value(0)}` : this.value(0)),
    )
  }

  private statement(): string {
    const member = () => this.pick(['o.c', 'o.a', 'v.y', 'x.y', 'l.z'])
    return this.choose(
      () => `{{ ${this.value(3)} }}`,
      () => `{{ ${this.value(2)} }}`,
      () => `{{ ${this.pickWord('v w x')} = ${this.value(3)} }}`,
      () =>
        `{{ ${this.chance(0.7) ? member() : this.pickWord('v w')} ${this.pickWord('= += -= *=')} ${this.value(2)} }}`,
      () => `{{ ${this.pickWord('v n o.a')}${this.pickWord('++ --')} }}`,
      () => `{{ ${this.pickWord('++ --')}${this.pickWord('v n')} }}`,
      () => this.pick(FRAGMENTS),
    )
  }

  private attributes(): string {
    if (this.chance(0.7)) return ''
    const value = this.chance(0.5) ? '"lit &amp; {{ s }}"' : `{{ ${this.value(2)} }}`
    return ` ${this.pickWord('meta name cache_control')}=${value}`
  }

  private block(depth: number, where: { inMessage: boolean; inStep: boolean }): string {
    if (depth <= 0) return this.statement()
    const body = (most = 3): string => {
      return this.times(1, most, () => this.block(depth - 1, where)).join(this.pick(['', ' ', '\n']))
    }
    const general = [() => this.statement(), () => this.ifBlock(body), () => this.loop(body), () => this.scope()]
    if (where.inMessage)
      return this.choose(
        ...general,
        () => this.statement(),
        () => this.part(),
      )
    const message = () => this.message(depth)
    if (where.inStep) return this.choose(...general, message, message)
    return this.choose(...general, message, message, () => this.step(depth))
  }

  private ifBlock(body: () => string): string {
    const elseIf = this.chance(0.3) ? `{{ else if ${this.value(1)} }}${body()}` : ''
    const otherwise = this.chance(0.4) ? `{{ else }}${body()}` : ''
    return `{{ if ${this.value(2)} }}${body()}${elseIf}${otherwise}{{ endif }}`
  }

  private loop(body: () => string): string {
    this.loops += 1
    const item = `i${this.loops}`
    const index = this.chance(0.4) ? `, ${item}x` : ''
    const items = this.chance(0.7) ? this.list(1) : this.value(2)
    const otherwise = this.chance(0.3) ? `{{ else }}${body()}` : ''
    return `{{ for ${item}${index} in ${items} }}${body()}{{ ${item} }}${otherwise}{{ endfor }}`
  }

  private scope(): string {
    return `<scope a={{ ${this.value(2)} }} s={{ s }} n={{ n }}>{{ a }} {{ s }}</scope>`
  }

  private part(): string {
    return this.choose(
      () => `<content-text${this.attributes()}>${this.statement()}${this.statement()}</content-text>`,
      () => '<content-image>{{ s }}</content-image>',
      () => '<content-file mime="a/b">{{ t }}</content-file>',
      () => '<content type="text">{{ s }}{{ f }}</content>',
    )
  }

  private message(depth: number): string {
    const tag = this.pickWord('user assistant system user')
    const body = () => this.times(1, 3, () => this.block(depth - 1, { inMessage: true, inStep: true })).join('')
    const role = this.chance(0.8) ? this.pick(['"user"', '"assistant"', '{{ "developer" }}']) : `{{ ${this.value(1)} }}`
    const args = this.chance(0.7) ? this.object(2) : this.value(1)
    return this.choose(
      () => `<${tag}${this.attributes()}>${body()}</${tag}>`,
      () => `<${tag}${this.attributes()}>${body()}</${tag}>`,
      () => `<message role=${role}${this.attributes()}>${this.statement()}</message>`,
      () => `<assistant><tool-call id="1" name="f" arguments={{ ${args} }} /></assistant>`,
      () => `<tool id={{ ${this.value(1)} }} name="f">${this.statement()}</tool>`,
    )
  }

  private step(depth: number): string {
    const attributes = [
      this.chance(0.5) ? ' as="x"' : '',
      this.chance(0.2) ? ' raw="w"' : '',
      this.chance(0.2) ? ' isolated' : '',
      this.chance(0.2) ? ' schema={{ { type: "object" } }}' : '',
      this.chance(0.3) ? ` model={{ ${this.value(1)} }}` : '',
    ]
    const body = this.times(1, 2, () => this.block(depth - 1, { inMessage: false, inStep: true }))
    return `<step${attributes.join('')}>${body.join('')}</step>`
  }
}
