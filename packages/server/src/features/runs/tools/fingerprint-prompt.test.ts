import { scan } from '@stet/template'
import { describe, expect, test } from 'vitest'
import { type AgentReader, agentText, agentTexts, type FingerprintInput, fingerprintOf } from './fingerprint-prompt.ts'

const base: FingerprintInput = {
  text: 'Answer {{ question }}',
  overrides: { model: 'a', temperature: 0 },
  agents: new Map([
    ['tools/search', 'Search'],
    ['tools/sum', 'Sum'],
  ]),
  provider: 'openai',
  model: 'a',
}

describe('the fingerprint of an arm', () => {
  test.each<[string, Partial<FingerprintInput>]>([
    ['the text', { text: 'Answer  {{ question }}' }],
    ['an override', { overrides: { model: 'a', temperature: 0.1 } }],
    ['no override', { overrides: null }],
    ['the text of an agent', { agents: new Map([...base.agents, ['tools/sum', 'Add']]) }],
    ['a further agent', { agents: new Map([...base.agents, ['tools/third', '']]) }],
    ['the provider key', { provider: 'openai-2' }],
    ['the model', { model: 'b' }],
  ])('changes with %s', (_name, change) => {
    expect(fingerprintOf({ ...base, ...change })).not.toBe(fingerprintOf(base))
  })

  test('does not change with the order of overrides and agents', () => {
    const reordered = {
      ...base,
      overrides: { temperature: 0, model: 'a' },
      agents: new Map([...base.agents].reverse()),
    }
    expect(fingerprintOf(reordered)).toBe(fingerprintOf(base))
    expect(fingerprintOf({ ...base, overrides: null })).toBe(fingerprintOf({ ...base, overrides: {} }))
  })
})

describe('the agents of a prompt', () => {
  const prompts: Record<string, string> = {
    'greet/a': 'A',
    'greet/root': '',
    'tools/c': 'C',
    'tools/d': `<step agents={{ ['/e'] }}>D</step>`,
    e: 'E',
    other: 'Other',
    computing: `<step agents={{ [helper] }}>Hi</step>`,
  }
  const others = ['computing', 'e', 'greet/a', 'other', 'tools/c', 'tools/d']
  const reader: AgentReader = {
    read(path) {
      const content = prompts[path]
      return Promise.resolve(content === undefined ? content : agentText(scan({ path, content, documents: {} })))
    },
    list: () => Promise.resolve(new Map(Object.entries(prompts))),
  }
  const agentsOf = async (content: string) => {
    const root = { ...agentText(scan({ path: 'greet/root', content, documents: {} })), path: 'greet/root' }
    return [...(await agentTexts(root, reader)).keys()].sort()
  }

  test.each([
    ['of the front matter, and theirs', '---\nagents: [/tools/d, a]\n---\nHi', ['e', 'greet/a', 'tools/d']],
    ['of steps', `<step agents={{ ['a', 'none'] }}>{{ 'other' }}</step>`, ['greet/a']],
    [
      'with quotes and braces',
      `<step agents={{ x == '}' ? ['it\\'s', '/e'] : ["\\x61"] }}>Hi</step>`,
      ['e', 'greet/a'],
    ],
    ['of conditions', `<step agents={{ x ? ['a'] : { y: { z: 1 } } ? ['/e'] : [] }}>Hi</step>`, ['e', 'greet/a']],
    ['that are computed', `<step agents={{ ["/tools/" + kind, 'a'] }}>Hi</step>`, others],
    ['of variables', `{{ all = ['a'] }}<step agents={{ all }}>Hi</step>`, others],
    ['of parameters', `<step agents={{ [helper] }}>Hi</step>`, others],
    ['of an agent that computes its own', '---\nagents: [/computing]\n---\nHi', others],
  ])('are those %s', async (_name, content, expected) => {
    expect(scan({ path: 'root', content, documents: {} }).errors).toEqual([])
    expect(await agentsOf(content)).toEqual(expected)
  })
})
