import { expect, it } from 'vitest'
import { runEngineAlone } from './engine-alone.ts'
import { firstIssue, renderIssue, sourceOf } from './support.ts'

const attributes = ['', ' id="1"', ' name="f"', ' id="1" name="f"', ' id="" name=""', ' id={{ a }} name={{ a }}']
const roles = ['user', 'assistant', 'tool', 'developer', 'boss', '']
const types = ['text', 'image', 'file', 'tool-call', 'sound', '']
const bodies = ['x', '', ' /* c */ ', '{{ a }}', '\\ ']

/** Messages and parts of which everything but the value of `a` is written in the prompt. */
function* prompts(): Generator<string> {
  const parts = [
    ...types.flatMap((type) =>
      ['', ' mime="text/plain"', ' mime=""'].map((mime) => [`content type="${type}"${mime}`, 'content']),
    ),
    ...['content-text', 'content-image', 'content-file', 'content-file mime="a/b"', 'content'].map((tag) => [
      tag,
      tag.split(' ')[0],
    ]),
    ...attributes.flatMap((given) =>
      [`tool-call${given}`, `content type="tool-call"${given}`].map((tag) => [tag, tag.split(' ')[0]]),
    ),
  ]
  for (const given of attributes) {
    for (const role of roles) yield `<message role="${role}"${given}>x</message>`
    yield `<tool${given}>x</tool>`
  }
  for (const [open, close] of parts) {
    for (const body of bodies) {
      const part = `<${open}>${body}</${close}>`
      // The engine accepts a tool call outside of a message. stet does not, because no assistant made it.
      if (!part.includes('tool-call')) yield part
      for (const role of ['user', 'assistant']) yield `<message role="${role}">${part}</message>`
      yield `<assistant>{{ if a }}${part}{{ endif }}</assistant>`
    }
  }
}

it('a prompt compiles if and only if it renders: what a run refuses, a check refuses in the same words', async () => {
  const wrong: unknown[] = []
  for (const content of prompts()) {
    const found = await firstIssue(content)
    const refused = await renderIssue(content, { a: 'text' }).catch(() => undefined)
    const engine = await runEngineAlone(sourceOf(content), { a: 'text' }, []).catch(String)
    const isSame = found?.message === refused?.message && (found === undefined) === Array.isArray(engine)
    if (!isSame) wrong.push({ content, found: found?.message, refused: refused?.message, engine: String(engine) })
  }
  expect(wrong).toEqual([])
})
