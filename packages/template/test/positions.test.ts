import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { scan } from '../src/index.ts'
import { firstIssue, renderIssue, sourceOf, textOf } from './support.ts'

describe('positions', () => {
  it.each([
    ['unclosed if', '{{ if a }}x', 'unclosed-block', 1, 1],
    ['end of input', '{{ a', 'unexpected-eof', 1, 5],
    ['unclosed page comment', 'a <!-- c', 'unclosed-comment', 1, 3],
    [
      'content in content',
      '<user><content-text><content-text>a</content-text></content-text></user>',
      'content-tag-inside-content',
      1,
      21,
    ],
    ['tool call of a user', '<user><tool-call id="1" name="f" /></user>', 'invalid-tool-call-placement', 1, 7],
    [
      'tool-call arguments that are no JSON',
      '<assistant><tool-call id="1" name="f" arguments="x" /></assistant>',
      'invalid-tool-call-arguments',
      1,
      12,
    ],
    [
      'tool-call arguments that are a list',
      '<assistant><tool-call id="1" name="f" arguments="[1]" /></assistant>',
      'invalid-tool-call-arguments',
      1,
      12,
    ],
    ['message without role', '<message>x</message>', 'message-tag-without-role', 1, 1],
    ['computed as', '<step as={{ a }}>x</step>', 'invalid-static-attribute', 1, 1],
    ['hiding loop variable', '{{ for valueOf in l }}{{ endfor }}', 'not-allowed', 1, 8],
    [
      'loop variable twice',
      '{{ for a in l }}{{ for a in m }}{{ endfor }}{{ endfor }}',
      'variable-already-declared',
      1,
      24,
    ],
    ['bad YAML', '---\nmodel: [1\n---\nx', 'invalid-config', 2, 10],
  ])('%s', async (_name, content, code, line, column) => {
    expect(await firstIssue(content)).toMatchObject({ code, line, column })
  })

  it('counts CRLF and a lone carriage return as one line end each', async () => {
    expect(await firstIssue('a\r\nb\rc {{ x => 1 }}')).toMatchObject({ line: 3, column: 6 })
  })

  it('suggests another name for a variable that hides a built-in', async () => {
    expect((await firstIssue('{{ constructor }}'))?.message).toContain("'constructorValue'")
  })

  it.each([
    ['file without type', '<content-file>x</content-file>', 'file-tag-without-mime-type', 1, 1],
    ['unknown role', '<message role="boss">x</message>', 'invalid-message-role', 1, 1],
    ['call of a missing method', '{{ n.trim() }}', 'not-a-function', 1, 4],
    [
      'tool-call arguments that are no object',
      '<assistant><tool-call id="1" name="f" arguments={{ [n] }} /></assistant>',
      'invalid-tool-call-arguments',
      1,
      12,
    ],
    [
      'loop variable that hides a parameter',
      'a\n {{ for n in [1] }}{{ n }}{{ endfor }} {{ n }}',
      'variable-already-declared',
      2,
      9,
    ],
    [
      'loop index that hides a parameter',
      '{{ for x, n in [1] }}{{ endfor }} {{ n }}',
      'variable-already-declared',
      1,
      11,
    ],
  ])('%s while rendering', async (_name, content, code, line, column) => {
    expect(await renderIssue(content, { n: 1 })).toMatchObject({ code, line, column })
  })

  it('locates loop variables only when one is invalid', async () => {
    const lookUps = vi.spyOn(String.prototype, 'indexOf')
    onTestFinished(() => lookUps.mockRestore())
    await textOf('{{ for x, i in [] }}{{ endfor }}\n'.repeat(500))
    const count = lookUps.mock.calls.filter(([text]) => text === '\n').length
    expect(count).toBeLessThan(10_000)
  })

  it('truncates a message that quotes a large value', async () => {
    const issue = await renderIssue('<message role={{ r }}>x</message>', { r: 'x'.repeat(100_000) })
    expect(issue.message).toHaveLength(1_000)
  })

  it('lists at most 20 issues', async () => {
    expect((await scan(sourceOf('{{ x => 1 }}'.repeat(30)))).errors).toHaveLength(20)
    const repaired = '<step schema={{ type: "object" }}>x</step>\n'.repeat(60)
    expect((await scan(sourceOf(repaired))).warnings).toHaveLength(20)
  })
})
