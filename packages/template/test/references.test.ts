import { describe, expect, it } from 'vitest'
import { resolveReferencePath, scan } from '../src/index.ts'
import { firstIssue, renderIssue, sourceOf, textOf } from './support.ts'

describe('paths of references', () => {
  it.each([
    ['b', 'a/x', 'a/b'],
    ['/b', 'a/x', 'b'],
    ['./b', 'a/x', 'a/b'],
    ['../b', 'a/x', 'b'],
    ['b.promptl', 'x', 'b'],
    ['c/./d/../e', 'a/x', 'a/c/e'],
    ['../../b', 'a/x', undefined],
    ['/..', 'a/x', undefined],
    ['/', 'a/x', undefined],
  ])('%s in %s', (path, from, expected) => {
    expect(resolveReferencePath(path, from)).toBe(expected)
  })

  it('are normalized to NFC unless they are too long for a path', () => {
    expect(resolveReferencePath('e\u0301', 'a/x')).toBe('a/\u00e9')
    const marks = `a${'\u0301'.repeat(800)}${'\u0323'.repeat(800)}`
    expect(resolveReferencePath(marks, 'x')).toBe(marks)
  })
})

describe('references', () => {
  it('inlines referenced documents as scopes, without comments and front matter', async () => {
    const { resolvedContent, references, parameters, errors } = await scan(
      sourceOf('/* top */Hi <prompt path="../other" name={{ who }} /> bye', {
        other: '---\nmodel: m\n---\n<!-- c -->I am {{ name }}',
      }),
    )
    expect(errors).toEqual([])
    expect(resolvedContent).toBe('Hi <scope name={{ who }}>I am {{ name }}</scope> bye')
    expect(references).toEqual(['other'])
    expect(parameters).toEqual(['who'])
  })

  it('returns text without comments and references as stored', async () => {
    expect((await scan(sourceOf('a\r\n{{ b }}'))).resolvedContent).toBe('a\r\n{{ b }}')
  })

  it('drops a single backslash at the end of a referenced document', async () => {
    expect(await textOf('<prompt path="a" /> end', {}, { 'folder/a': 'text\\' })).toBe('text end')
  })

  it('keeps a comment that separates two tokens', async () => {
    const { resolvedContent } = await scan(sourceOf('{/* x */{ a }} and b/* y */ c'))
    expect(resolvedContent).toBe('{/**/{ a }} and b c')
    expect(await textOf('{/* x */{ a }}')).toBe(await textOf(resolvedContent.slice(0, 11)))
  })

  it('reports missing documents with path and position', async () => {
    const { errors, missing } = await scan(sourceOf('x\n <prompt path="a" /><prompt path="/b" />'))
    expect(missing).toEqual(['folder/a', 'b'])
    expect(errors).toMatchObject([
      { code: 'reference-not-found', line: 2, column: 2, message: expect.stringContaining('folder/a') },
      { code: 'reference-not-found', line: 2, column: 21 },
    ])
  })

  it('positions faults in the document that contains them', async () => {
    const documents = { 'folder/a': 'one\n{{ x => 1 }}', 'folder/b': 'two\n\n{{ y.z.w }}', 'folder/c': '<user>' }
    expect(await firstIssue('<prompt path="a" />', documents)).toMatchObject({ path: 'folder/a', line: 2, column: 4 })
    expect(await firstIssue('<prompt path="c" />', documents)).toMatchObject({
      path: 'folder/c',
      code: 'unclosed-block',
    })
    const issue = await renderIssue('text <prompt path="b" y={{ {} }} />', {}, documents)
    expect(issue).toMatchObject({ path: 'folder/b', line: 3, column: 4 })
  })

  it.each([
    ['depth 10 is fine', 10, undefined],
    ['depth 11 is too deep', 11, 'limit-exceeded'],
  ])('%s', async (_name, depth, code) => {
    const documents = Object.fromEntries(
      Array.from({ length: depth }, (_, index) => [
        `d${index + 1}`,
        index + 1 < depth ? `<prompt path="d${index + 2}" />` : 'end',
      ]),
    )
    expect((await firstIssue('<prompt path="/d1" />', documents))?.code).toBe(code)
  })

  it.each([
    ['200 loads are fine', 200, undefined],
    ['201 loads are too many', 201, 'limit-exceeded'],
  ])('%s', async (_name, loads, code) => {
    expect((await firstIssue('<prompt path="/a" />'.repeat(loads), { a: 'x' }))?.code).toBe(code)
  })

  it('limits the resolved text', async () => {
    const issue = await firstIssue('<prompt path="/a" />'.repeat(6), { a: 'x'.repeat(200_000) })
    expect(issue?.code).toBe('limit-exceeded')
  })

  it.each([
    ['<prompt />', 'reference-tag-without-prompt'],
    ['<prompt path={{ a }} />', 'invalid-static-attribute'],
    ['<prompt path="a">x</prompt>', 'reference-tag-has-content'],
    ['<prompt path="../../x" />', 'invalid-reference-path'],
  ])('refuses %s', async (content, code) => {
    expect((await firstIssue(content))?.code).toBe(code)
  })
})
