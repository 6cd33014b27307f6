import { Adapters } from 'promptl-ai'
import { describe, expect, it } from 'vitest'
import { AbortError, ConfigurationError, RunError, UnprocessableEntityError } from '../../src/index.ts'
import { render, renderChain } from '../../src/render/index.ts'

const PROMPT = `---
provider: openai
model: gpt-4o
temperature: 0.2
parameters:
  count: { type: number, required: true }
---
Be brief.
<user>{{ count + 1 }} things</user>
`

const TOOLS = `---
model: m
tools:
  - look_up: { description: Looks, parameters: { type: object } }
---
<user>Where?</user>
`

const call = (id: string, name = 'look_up', args: object = { q: 'x' }) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: name,
  args: { ...args },
})
const text = (said: string) => [{ type: 'text' as const, text: said }]

describe('render', () => {
  it('writes OpenAI messages by default', async () => {
    const { messages, config } = await render(PROMPT, { parameters: { count: '2' } })
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: '3 things' }] },
    ])
    expect(config).toMatchObject({ provider: 'openai', model: 'gpt-4o', temperature: 0.2 })
  })

  it('gives Anthropic the system messages in the configuration', async () => {
    const prompt = '---\nsystem: Be kind.\nmaxSteps: 3\n---\nBe brief.\n<user>Hi</user>'
    const { config, messages } = await render(prompt, { adapter: 'anthropic', stripServiceConfig: true })
    expect(config).toEqual({ system: [...text('Be kind.'), ...text('Be brief.')] })
    expect(messages).toEqual([{ role: 'user', content: text('Hi') }])
  })

  it('returns the server messages unchanged', async () => {
    const prompt =
      '<assistant><tool-call id="a" name="look_up" arguments={{ { q: 1 } }} /></assistant><tool id="a" name="look_up">found</tool>'
    const own = await render(prompt, { adapter: 'default' })
    expect(own.messages).toEqual([
      { role: 'assistant', content: [call('a', 'look_up', { q: 1 })] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'look_up', result: 'found' }] },
    ])
    const openai = await render<Record<string, unknown>>(prompt, { adapter: 'openai' })
    expect(openai.messages).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'look_up', arguments: '{"q":1}' } }] },
      { role: 'tool', tool_call_id: 'a' },
    ])
  })

  it('removes the config keys that only the server reads', async () => {
    const { config } = await render(PROMPT, { parameters: { count: 1 }, stripServiceConfig: true })
    expect(config).toEqual({ model: 'gpt-4o', temperature: 0.2 })
  })

  it('resolves references from the prompt’s own path', async () => {
    const prompt = { path: 'support/reply', content: '<prompt path="tone" /> <prompt path="/legal" />' }
    const references = { 'support/tone': 'Kindly.', legal: 'No advice.' }
    const { messages } = await render(prompt, { references, adapter: 'default' })
    expect(messages).toEqual([{ role: 'system', content: [...text('Kindly.'), ...text('No advice.')] }])
    const elsewhere = render(prompt, { references, fullPath: 'sales/reply' })
    await expect(elsewhere).rejects.toThrow(/sales\/reply:1:1 .*'sales\/tone' does not exist/)
  })

  it('rejects invalid parameters like the server, all in one error', async () => {
    const error: unknown = await render(PROMPT, { parameters: {} }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(UnprocessableEntityError)
    expect(error).toMatchObject({ status: 422, details: { missing: ['count'], invalid: [] } })
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    await expect(render('x', { parameters: circle })).rejects.toBeInstanceOf(ConfigurationError)
  })

  it('does not change its arguments', async () => {
    const parameters = { list: [1] }
    const { messages } = await render('{{ list.push(2) }} {{ list }}', { parameters, adapter: 'default' })
    expect(JSON.stringify(messages)).toContain('[1,2]')
    expect(parameters).toEqual({ list: [1] })
  })

  it('rejects an invalid adapter', async () => {
    await expect(render('x', { adapter: {} })).rejects.toBeInstanceOf(ConfigurationError)
  })

  it('rejects content that the format does not support', async () => {
    const prompt = '<system><content-image>https://host/a.png</content-image></system>'
    const error: unknown = await render(prompt).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(error).toMatchObject({
      message: 'The message format openai does not support parts of type image in system messages',
    })
  })

  it.each([
    // More than the server allows.
    [undefined, 2_000_000, 'fulfilled'],
    [undefined, 20_000_000, 'rejected'],
    [1_000, 2_000, 'rejected'],
    [20_000_000, 12_000_000, 'fulfilled'],
  ])('limits the work to %s units (a prompt of %i)', async (limit, units, outcome) => {
    const rounds = Math.ceil(units / 12)
    const prompt = 'Sum:\n{{ sum = 0 }}{{ for n in list }}{{ for m in list }}{{ sum = n + m }}{{ endfor }}{{ endfor }}'
    const list = Array.from({ length: Math.ceil(Math.sqrt(rounds)) }, (_, index) => index)
    const [made] = await Promise.allSettled([render(prompt, { parameters: { list }, ...(limit && { limit }) })])
    expect(made?.status).toBe(outcome)
    if (made?.status !== 'rejected') return
    expect(made.reason).toBeInstanceOf(RunError)
    const details = { compileCode: 'limit-exceeded', path: 'prompt', line: 2, frame: expect.stringContaining('^') }
    expect(made.reason).toMatchObject({ errorCode: 'chain_compile_error', details })
  })

  it.each([0, -1, Number.NaN])('rejects the limit %d', async (limit) => {
    await expect(render('x', { limit })).rejects.toBeInstanceOf(ConfigurationError)
  })
})

describe('renderChain', () => {
  it('passes each step the response of the previous one, in the adapter format', async () => {
    const seen: unknown[] = []
    const { messages, config } = await renderChain('<step as="a" model="small">One</step>Two {{ a }}', {
      async onStep({ step, config, messages }) {
        seen.push([step, config['model'], messages.length])
        return `answer ${step}`
      },
    })
    expect(seen).toEqual([
      [1, 'small', 1],
      [2, undefined, 3],
    ])
    expect(messages).toMatchObject([
      { role: 'system', content: 'One' },
      { role: 'assistant', content: [{ text: 'answer 1' }] },
      { role: 'system', content: 'Two answer 1' },
      { role: 'assistant', content: [{ text: 'answer 2' }] },
    ])
    expect(config).toEqual({})
  })

  it('answers tool calls until the model makes none, including errors', async () => {
    const answers = [{ content: [call('a'), call('b', 'fail')] }, { content: [call('c')] }, 'Done.']
    const asked: unknown[] = []
    const { messages } = await renderChain(TOOLS, {
      adapter: 'default',
      onStep: async () => answers.shift() ?? '',
      tools: {
        look_up: ({ q }, { id, name, messages }) => {
          asked.push([q, id, name, messages.length])
          return { found: q }
        },
        fail: () => {
          throw new Error('not today')
        },
      },
    })
    expect(asked).toEqual([
      ['x', 'a', 'look_up', 2],
      ['x', 'c', 'look_up', 4],
    ])
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: [call('a'), call('b', 'fail')] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'look_up', result: { found: 'x' } },
          { type: 'tool-result', toolCallId: 'b', toolName: 'fail', result: 'not today', isError: true },
        ],
      },
      { role: 'assistant', content: [call('c')] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'look_up', result: { found: 'x' } }],
      },
      { role: 'assistant', content: text('Done.') },
    ])
  })

  it('reads responses in the provider format', async () => {
    const said = {
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"q":"y"}' } }],
    }
    const answers: (string | { content: null })[] = [said, 'Found.']
    const { messages } = await renderChain<{ role: string; content: unknown }>(TOOLS, {
      adapter: 'openai',
      onStep: async () => answers.shift() ?? '',
      tools: { look_up: ({ q }) => `about ${q}` },
    })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(JSON.stringify(messages)).toContain('about y')
  })

  it('names the tool of a response whose arguments are not JSON', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"q"' } }
    const chain = renderChain<{ role: string }>(TOOLS, { onStep: async () => ({ tool_calls: [call] }) })
    await expect(chain).rejects.toThrow('onStep returned a call of the tool look_up whose arguments are not JSON')
  })

  it('keeps the system messages of all steps in the configuration for Anthropic', async () => {
    const seen: unknown[] = []
    const { config, messages } = await renderChain('---\nsystem: A\n---\n<step>B</step><step>C</step>', {
      adapter: 'anthropic',
      async onStep({ config }) {
        seen.push(config['system'])
        return { content: [{ type: 'text', text: 'Yes.' }] }
      },
    })
    expect(seen).toEqual([
      [...text('A'), ...text('B')],
      [...text('A'), ...text('B'), ...text('C')],
    ])
    expect(config).toEqual({ system: [...text('A'), ...text('B'), ...text('C')] })
    expect(messages).toEqual([
      { role: 'assistant', content: text('Yes.') },
      { role: 'assistant', content: text('Yes.') },
    ])
  })

  it.each(['anthropic' as const, Adapters.anthropic])(
    'reads a response once beside a configured system text (%#)',
    async (adapter) => {
      const { messages } = await renderChain('---\nsystem: A\n---\n<user>Hi</user>', {
        adapter,
        onStep: async () => ({ content: text('Yes.') }),
      })
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    },
  )

  it('leaves unanswered calls and the calls of a pausing handler open', async () => {
    const once = async () => ({ content: [call('a')] })
    const open = await renderChain(TOOLS, { adapter: 'default', onStep: once })
    const paused = await renderChain(TOOLS, {
      adapter: 'default',
      onStep: once,
      tools: { look_up: (_args, { pauseExecution }) => pauseExecution() },
    })
    for (const { messages } of [open, paused]) {
      expect(messages.at(-1)).toEqual({ role: 'assistant', content: [call('a')] })
    }
  })

  it('rejects after the maximum number of model calls', async () => {
    const endless = renderChain(TOOLS, {
      adapter: 'default',
      maxSteps: 3,
      onStep: async () => ({ content: [call('a')] }),
      tools: { look_up: () => 'again' },
    })
    const error: unknown = await endless.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({ errorCode: 'max_step_count_exceeded_error', details: { maxSteps: 3 } })
  })

  it('rejects on abort and when onStep throws', async () => {
    const controller = new AbortController()
    const chain = renderChain('<step>One</step>Two', {
      signal: controller.signal,
      async onStep({ signal }) {
        expect(signal).toBe(controller.signal)
        controller.abort()
        return 'x'
      },
    })
    await expect(chain).rejects.toBeInstanceOf(AbortError)
    const failing = renderChain('x', { onStep: () => Promise.reject(new RangeError('mine')) })
    await expect(failing).rejects.toThrow(RangeError)
  })
})
