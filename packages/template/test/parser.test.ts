import { parse } from 'promptl-ai'
import { describe, expect, it } from 'vitest'
import { FaultError } from '../src/compile-error.ts'
import { parseText } from '../src/parse/parse-text.ts'
import { corpusTexts, isEndlessInEngine, mutations, strippedTree } from './engine-tree.ts'
import { firstIssue, textOf } from './support.ts'

describe('names and tags', () => {
  it.each([
    ['{{ format }}', 'x'],
    ['{{ iffy }}{{ elsewhere }}', 'x'],
    ['{{ for index in [1] }}{{ index }}{{ format }}{{ endfor }}', '1x'],
  ])('reads names that begin with a keyword: %s', async (content, expected) => {
    expect(await textOf(content, { format: 'x', iffy: 'x' })).toBe(expected)
  })

  it.each(['<user/x', '<user/x>', 'a <step/b', '</user/x>'])('reads %s as text', async (content) => {
    expect(await textOf(content)).toBe(content)
  })
})

describe('limits', () => {
  it.each([
    ['an expression', `a {{ ${'x+'.repeat(4_200)}x }}`, 6],
    ['tags', `${'<scope>'.repeat(300)}x`, 1408],
    ['parentheses', `a {{ ${'('.repeat(100_000)}`, 6],
  ])('%s', async (_name, content, column) => {
    expect(await firstIssue(content)).toMatchObject({ code: 'limit-exceeded', line: 1, column })
  })
})

const isLong = process.env['STET_TEST_LONG'] === '1'
const MOST_CHARS = isLong ? 262_144 : 65_536
const MUTATIONS = isLong ? 50_000 : 2_000

/** Texts of which one parser or the other once took quadratic time. */
const hostile: Readonly<Record<string, (repeated: (text: string) => string) => string>> = {
  'plain text': (n) => n('a '),
  expressions: (n) => n('{{1}}'),
  'expressions on lines': (n) => n('{{ a }}\n'),
  'closed blocks': (n) => n('{{if a}}x{{endif}}'),
  comments: (n) => n('/* c */<user>x</user>'),
  'open comments': (n) => n('<!-- '),
  tags: (n) => n('<user>x</user>\n'),
  'tags that are none': (n) => n('<user'),
  'attribute expressions': (n) => n('<user a={{ 1 }}>x</user>\n'),
  dashes: (n) => n('---\n'),
  backslashes: (n) => n('\\'),
  'many attributes': (n) => `<user ${n('a b c ').replace(/\w/g, (_, at) => `a${at}`)}>x</user>`,
  ampersands: (n) => `<user a="${n('&')}">x</user>`,
  'entities without end': (n) => `<user a="${n('&amp')}">x</user>`,
  'front matter of blank lines': (n) => `---\n${n('\n ')}`,
  'front matter of dashes': (n) => `---\n${n(' ---')}`,
  'loops that take apart': (n) => n('{{for [a] in b}}'),
  'else if': (n) => `{{if a}}${n('{{else if a}}')}{{endif}}`,
  'a list': (n) => `{{ [${n('1,')}] }}`,
  'a sum': (n) => `{{ 1${n('+1')} }}`,
  'a long text': (n) => `{{ "${n('x')}" }}`,
  'blanks in parentheses': (n) => `{{ ((((${n(' ')}1)))) }}`,
  parentheses: (n) => `{{ ${n('(')} }}`,
  members: (n) => `{{ a${n('.a')} }}`,
  'arrow functions': (n) => `{{ ${n('(a=>')} }}`,
  'arrow parameters': (n) => `{{ ${n('((a),')} }}`,
  'blanks in a tag': (n) => `<user${n(' ')}>x</user>`,
  'closing tags': (n) => n('<user>') + n('</user>'),
  'trimmed white space': (n) => `{{if a}}x${n(' \n')}y{{endif}}`,
  'comments in an expression': (n) => `{{ ${n('/**/')}a }}`,
  'regular expressions': (n) => `{{ /${n('[')} }}`,
  'template literals': (n) => `{{ \`${n('$' + '{a}')}\` }}`,
  'bare schemas': (n) => n('<step schema={{ a'),
}

describe('the time to parse', () => {
  const cpuMs = (text: string): number => {
    const before = process.cpuUsage()
    try {
      parseText(text)
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  it.each(Object.keys(hostile))('is linear for %s', (name) => {
    const least = (chars: number): number => {
      const text = hostile[name]?.((piece) => piece.repeat(Math.ceil(chars / piece.length))) ?? ''
      return Math.min(cpuMs(text), cpuMs(text))
    }
    // Quadratic time would grow by a factor of 16. The additional milliseconds allow for texts that take no time.
    expect(least(MOST_CHARS)).toBeLessThan(8 * least(MOST_CHARS / 4) + 150)
  })
})

describe('compared with promptl-ai', () => {
  it.each(corpusTexts())('reads the tree of %s', (_name, text) => {
    expect(strippedTree(parseText(text).fragment)).toEqual(strippedTree(parse(text)))
  })

  it('reads the trees of changed prompts', () => {
    let compared = 0
    for (const text of mutations(MUTATIONS)) {
      if (isEndlessInEngine(text)) continue
      const [theirs, ours] = [parsedBy(parse, text), parsedBy((content) => parseText(content).fragment, text)]
      if (!theirs || !ours) continue
      compared += 1
      expect(ours, text).toEqual(theirs)
    }
    expect(compared).toBeGreaterThan(MUTATIONS / 4)
  }, 120_000)
})

function parsedBy(read: (text: string) => object, text: string): unknown {
  try {
    return strippedTree(read(text))
  } catch {
    return undefined
  }
}
