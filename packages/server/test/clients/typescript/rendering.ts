/** The client renders these prompts itself, from the text on the server. */
import { expect, test } from 'vitest'
import { sentDuring } from '../matrix/client-bench.ts'
import type { Matrix } from '../matrix/client-matrix.ts'
import type { Ready } from './ready.ts'

export function renderTests(matrix: Matrix, ready: Ready): void {
  matrix.method('prompts.render', () => {
    test('a prompt of the server, rendered without a further request', async () => {
      const { client, bench } = ready()
      const prompt = await client.prompts.get('greet')
      const { answer, sent } = await sentDuring(bench, () =>
        client.prompts.render({ prompt, parameters: { name: 'Ana' } }),
      )
      expect(sent).toEqual([])
      expect(answer).toMatchObject({
        config: { provider: 'OpenAI', model: 'gpt-4o' },
        messages: [{ role: 'system' }, { role: 'user', content: [{ type: 'text', text: 'Say hello to Ana.' }] }],
      })
    })
  })

  matrix.method('prompts.renderChain', () => {
    test('each step asks the application for the answer', async () => {
      const { client } = ready()
      const prompt = await client.prompts.get('chain')
      const asked: number[] = []
      const { messages } = await client.prompts.renderChain({
        prompt,
        parameters: {},
        onStep: async (step) => `Answer ${asked.push(step.messages.length)}`,
      })
      expect(asked).toEqual([1, 3])
      expect(JSON.stringify(messages)).toContain('After Answer 1.')
    })

    test('tools of the application are called for the calls that it answers', async () => {
      const { client } = ready()
      const prompt = await client.prompts.get('weather')
      const called: unknown[] = []
      const call = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }
      const { messages } = await client.prompts.renderChain({
        prompt,
        parameters: {},
        onStep: async () => ({ role: 'assistant', content: null, tool_calls: [call] }),
        tools: {
          get_weather: async (args) => {
            called.push(args)
            return 'blue'
          },
        },
      })
      expect(called).toEqual([{ city: 'Rome' }])
      expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c1' })
    })
  })
}

export function instrumentationTests(matrix: Matrix, ready: Ready): void {
  const wrapped = async (isOn: boolean): Promise<string[]> => {
    const { client, Latitude } = ready()
    const seen: string[] = []
    const wrapper =
      (name: string) =>
      async (call: (...args: unknown[]) => unknown, ...args: unknown[]) => {
        seen.push(name)
        return await call(...args)
      }
    Latitude.instrument({
      wrapRenderChain: wrapper('chain'),
      wrapRenderStep: wrapper('step'),
      wrapRenderCompletion: wrapper('completion'),
      wrapRenderTool: wrapper('tool'),
    })
    if (!isOn) Latitude.uninstrument()
    const prompt = await client.prompts.get('greet')
    await client.prompts.renderChain({ prompt, parameters: {}, onStep: async () => 'Hello.' })
    Latitude.uninstrument()
    return seen
  }
  matrix.method('static instrument', () => {
    test('its wrappers are called around what the client renders', async () => {
      expect(await wrapped(true)).toEqual(['chain', 'step', 'completion'])
    })
  })
  matrix.method('static uninstrument', () => {
    test('no wrapper is called any more', async () => {
      expect(await wrapped(false)).toEqual([])
    })
  })
}
