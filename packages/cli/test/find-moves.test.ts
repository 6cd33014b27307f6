import { expect, test } from 'vitest'
import { hashBytes, hashText } from '../src/sync/hash.ts'
import { findMoves, type Places } from '../src/sync/moves/find-moves.ts'

type Texts = Readonly<Record<string, string>>

interface Given {
  /** The pulled prompts. Each prompt's uuid is its path here, unless `uuids` names another. */
  base: Texts
  files: Texts
  /** Unless given, as pulled. */
  server?: Texts
  uuids?: Readonly<Record<string, string>>
  notes?: Readonly<Record<string, string>>
}

function placesOf({ base, files, server = base, uuids = {}, notes = {} }: Given): Places {
  const hashed = (text: string) => hashBytes(Buffer.from(text)) ?? { text, hashes: new Set<string>() }
  const entries = Object.entries(base).map(([path, text]) => {
    const movedTo = notes[path]
    return [path, { hash: hashText(text), documentUuid: path, ...(movedTo !== undefined && { movedTo }) }] as const
  })
  return {
    entries: Object.fromEntries(entries),
    local: new Map(Object.entries(files).map(([path, text]) => [path, hashed(text)])),
    remote: new Map(
      Object.entries(server).map(([path, content]) => {
        return [path, { content, contentHash: hashText(content), documentUuid: uuids[path] ?? path }]
      }),
    ),
  }
}

/** Lists moves as `a → b`, those on the server as `a ⇒ b`. */
function movesOf(given: Given, guesses = true): string[] {
  const { moves } = findMoves(placesOf(given), guesses)
  return [...moves].map(([to, { from, by }]) => `${from} ${by === 'file' ? '→' : '⇒'} ${to}`).sort()
}

const front = '---\nprovider: openai\nmodel: gpt-4o-mini\ntemperature: 0.2\n---\n'
const reply = `${front}<system>\nYou answer customers.\nBe brief.\nNever promise a refund.\n</system>\n<user>{{ ticket }}</user>\n`
const triage = `${front}<system>\nSort the ticket into bug, billing or other.\n</system>\n<user>{{ ticket }}</user>\n`
const poem = 'Write a poem.\nIt has two lines.\nThey rhyme.\nNo title.\nNo comment.\n'
const lines = (...numbers: number[]): string => numbers.map((number) => `line ${number}\n`).join('')
const ten = lines(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)

const pairs: [name: string, given: Given, found: string[]][] = [
  ['a renamed file', { base: { a: poem }, files: { b: poem } }, ['a → b']],
  ['a file in another folder', { base: { 'x/a': reply }, files: { 'y/z/a': reply } }, ['x/a → y/z/a']],
  ['a renamed file beside an unchanged one', { base: { a: poem, k: reply }, files: { b: poem, k: reply } }, ['a → b']],
  [
    'a renamed file with other line ends',
    { base: { a: poem }, files: { b: poem.replaceAll('\n', '\r\n') } },
    ['a → b'],
  ],
  [
    'a renamed file with one changed line',
    { base: { a: poem }, files: { b: poem.replace('poem', 'song') } },
    ['a → b'],
  ],
  ['a renamed file with another model', { base: { a: reply }, files: { b: reply.replace('4o-mini', '5') } }, ['a → b']],
  ['60 % equal lines', { base: { a: ten }, files: { b: lines(1, 2, 3, 4, 5, 6, 11, 12, 13, 14) } }, ['a → b']],
  ['50 % equal lines', { base: { a: ten }, files: { b: lines(1, 2, 3, 4, 5, 11, 12, 13, 14, 15) } }, []],
  ['a file that lost more than 40 % of its lines', { base: { a: ten }, files: { b: lines(1, 2, 3, 4, 5) } }, []],
  ['a file that grew by half', { base: { a: ten }, files: { b: `${ten}${lines(11, 12, 13, 14, 15)}` } }, ['a → b']],
  [
    'a file whose lines have another order',
    { base: { a: ten }, files: { b: lines(6, 7, 8, 9, 10, 1, 2, 3, 4, 5) } },
    ['a → b'],
  ],
  ['an empty file', { base: { a: '' }, files: { b: '' } }, ['a → b']],
  ['an empty prompt and a new text', { base: { a: '' }, files: { b: poem } }, []],
  ['an unrelated prompt with the same front matter', { base: { a: reply }, files: { b: triage } }, []],
  [
    'short unrelated prompts with much front matter',
    { base: { a: `${front}Hello {{ name }}\n` }, files: { b: `${front}Translate {{ text }}\n` } },
    [],
  ],
  [
    'front matter alone, with one changed line',
    { base: { a: front }, files: { b: front.replace('0.2', '0.3') } },
    ['a → b'],
  ],
  [
    'tags and blank lines alone',
    { base: { a: '<user>\n\nA\n\n</user>\n' }, files: { b: '<user>\n\nB\n\n</user>\n' } },
    [],
  ],
  ['a deleted and an unrelated new prompt', { base: { a: poem }, files: { b: ten } }, []],
  ['a copied file', { base: { a: poem }, files: { a: poem, b: poem } }, []],
  ['a copied file whose original was edited', { base: { a: poem }, files: { a: ten, b: poem } }, []],
  ['two new files with the text', { base: { a: poem }, files: { b: poem, c: poem } }, []],
  [
    'two files with the text, of which one has the name',
    { base: { 'x/a': poem }, files: { 'y/a': poem, 'y/b': poem } },
    ['x/a → y/a'],
  ],
  ['two deleted prompts with the text', { base: { a: poem, b: poem }, files: { c: poem } }, []],
  [
    'two prompts with one text that keep their names',
    { base: { 'x/a': poem, 'x/b': poem }, files: { 'y/a': poem, 'y/b': poem } },
    ['x/a → y/a', 'x/b → y/b'],
  ],
  ['two new files that resemble it', { base: { a: ten }, files: { b: `${ten}b\n`, c: `${ten}c\n` } }, []],
  ['two deleted prompts that resemble it', { base: { a: `${ten}a\n`, b: `${ten}b\n` }, files: { c: ten } }, []],
  ['an equal text, and another that resembles it', { base: { a: ten }, files: { b: `${ten}b\n`, c: ten } }, ['a → c']],
  ['two files that swap', { base: { a: poem, b: ten }, files: { a: ten, b: poem } }, ['a → b', 'b → a']],
  [
    'three files in a circle',
    { base: { a: poem, b: ten, c: reply }, files: { a: reply, b: poem, c: ten } },
    ['a → b', 'b → c', 'c → a'],
  ],
  ['a row of files', { base: { a: poem, b: ten }, files: { b: poem, c: ten } }, ['a → b', 'b → c']],
  ['a text that replaced another prompt', { base: { a: poem, b: ten }, files: { b: poem } }, []],
  [
    'a renamed file whose name has a new text',
    { base: { a: poem }, files: { a: ten, b: poem }, notes: { a: 'b' } },
    ['a → b'],
  ],
  ['a rewritten file that stet mv moved', { base: { a: poem }, files: { b: ten }, notes: { a: 'b' } }, ['a → b']],
  ['a note whose file is gone', { base: { a: poem }, files: { c: poem }, notes: { a: 'b' } }, ['a → c']],
  [
    'files that stet mv swapped and that were rewritten',
    { base: { a: poem, b: ten }, files: { a: reply, b: triage }, notes: { a: 'b', b: 'a' } },
    ['a → b', 'b → a'],
  ],
  [
    'a file at a path that a colleague took',
    { base: { a: poem }, files: { b: poem }, server: { a: poem, b: ten } },
    [],
  ],
  ['a prompt that a colleague deleted', { base: { a: poem }, files: { b: poem }, server: {} }, []],
  [
    'a prompt that a colleague edited',
    { base: { a: ten }, files: { b: ten }, server: { a: `${ten}more\n` } },
    ['a → b'],
  ],
  [
    'a prompt that a colleague replaced',
    { base: { a: poem }, files: { b: poem }, server: { a: poem }, uuids: { a: 'other' } },
    [],
  ],
  [
    'a prompt that moved on the server',
    { base: { a: poem }, files: { a: poem }, server: { b: ten }, uuids: { b: 'a' } },
    ['a ⇒ b'],
  ],
  [
    'prompts that swapped on the server',
    { base: { a: poem, b: ten }, files: { a: poem, b: ten }, server: { a: ten, b: poem }, uuids: { a: 'b', b: 'a' } },
    ['a ⇒ b', 'b ⇒ a'],
  ],
  [
    'a prompt that moved on the server to a path with a new file',
    { base: { a: poem }, files: { a: poem, b: ten }, server: { b: poem }, uuids: { b: 'a' } },
    [],
  ],
  [
    'a prompt that both sides moved to the same path',
    { base: { a: poem }, files: { b: poem }, server: { b: poem }, uuids: { b: 'a' } },
    [],
  ],
  [
    'a prompt that both sides moved to different paths',
    { base: { a: poem }, files: { b: poem }, server: { c: poem }, uuids: { c: 'a' } },
    [],
  ],
]

test.each(pairs)('%s', (_, given, found) => {
  expect(movesOf(given)).toEqual(found)
})

test('the entry of a prompt that both sides moved is at the new path', () => {
  const swap = { base: { a: poem, b: ten }, files: { a: ten, b: poem }, server: { a: ten, b: poem } }
  const { entries, moves } = findMoves(placesOf({ ...swap, uuids: { a: 'b', b: 'a' } }), true)
  expect(moves.size).toBe(0)
  expect(entries).toEqual({
    a: { hash: hashText(ten), documentUuid: 'b' },
    b: { hash: hashText(poem), documentUuid: 'a' },
  })
  // The file was rewritten before the pull.
  const rewritten = placesOf({ base: { a: poem }, files: { b: reply }, server: { b: triage }, uuids: { b: 'a' } })
  expect(findMoves(rewritten, false).entries).toEqual({ b: { hash: hashText(poem), documentUuid: 'a' } })
})

test('a folder of 200 prompts, of which some have one text and some were edited', () => {
  const textOf = (index: number): string =>
    index % 10 === 0 ? poem : `${front}${ten}number ${index}\n${lines(index, index + 1)}`
  const names = Array.from({ length: 200 }, (_, index) => `prompt-${index}`)
  const all = (folder: string, change = (text: string, _index: number) => text): Texts =>
    Object.fromEntries(names.map((name, index) => [`${folder}/${name}`, change(textOf(index), index)]))
  const edited = (text: string, index: number) => (index === 7 ? `${text}edited\n` : text)
  const given = { base: all('old'), files: all('new/deep', edited) }
  expect(movesOf(given)).toEqual(names.map((name) => `old/${name} → new/deep/${name}`).sort())
})

test('without guesses, only moves on the server count', () => {
  const swapped = { base: { a: poem, b: ten }, files: { a: ten, b: poem }, notes: { a: 'b', b: 'a' } }
  expect(movesOf(swapped, false)).toEqual([])
  const served = { base: { a: poem }, files: { a: poem }, server: { b: ten }, uuids: { b: 'a' } }
  expect(movesOf(served, false)).toEqual(['a ⇒ b'])
})
