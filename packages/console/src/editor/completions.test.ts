import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { completePromptl } from './completions.ts'

const complete = completePromptl(() => ({
  parameters: ['customer'],
  providers: [],
  paths: ['support/tone', 'support/reply'],
}))

/** The offered labels at `|`, as far as they start like the typed word. */
function labels(marked: string): string[] {
  const at = marked.indexOf('|')
  const text = marked.replace('|', '')
  const found = complete(new CompletionContext(EditorState.create({ doc: text }), at, false))
  const typed = text.slice(found?.from ?? at, at)
  return (found?.options ?? []).map(({ label }) => label).filter((label) => label.startsWith(typed))
}

test.each([
  ['{{ cus|', 'customer'],
  ['{{cus|', 'customer'],
  ['{{ i|', 'if'],
  ['<us|', '<user>'],
  ['<prompt path="/sup|', '/support/tone'],
  ['---\nmod|\n---\n', 'model'],
  ['---\ntype: ag|\n---\n', 'agent'],
])('after %j, %s is offered', (text, label) => expect(labels(text)).toContain(label))

test('a tag that the language takes for text is not offered', () => expect(labels('<dev|')).toEqual([]))

test('plain words are not completed', () => expect(labels('Hello cus|')).toEqual([]))
