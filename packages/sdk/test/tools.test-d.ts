/** Handlers with the schemas of a real library, under exactOptionalPropertyTypes. */
import { z } from 'zod'
import { type Stet, tool } from '../src/index.ts'

interface Registry {
  'travel/plan': { tools: { get_weather: { city: string; days?: number; unit?: 'c' | 'f' }; find: { query: string } } }
}
declare const known: Stet<Registry>
declare const open: Stet

const execute = (args: object) => args
const city = z.string()

// The model sends the schema's input, and the handler receives its output.
known.prompts.run('travel/plan', {
  tools: {
    get_weather: tool({
      input: z.object({ city, days: z.number().default(1), unit: z.enum(['c', 'f']).optional() }),
      execute: ({ days, unit }) => days.toFixed() + (unit ?? 'c'),
    }),
    find: tool({
      input: z.object({ query: z.string().transform((text) => text.split(' ')) }),
      execute: ({ query }) => query.join(),
    }),
  },
})
known.prompts.stream('travel/plan', {
  tools: { find: tool({ input: z.object({ query: z.string(), limit: z.number().optional() }), execute }) },
})
known.prompts.stream('travel/plan', {
  tools: { find: ({ query }) => query.length, get_weather: ({ days = 1 }) => days.toFixed() },
})
known.prompts.run('travel/plan', { tools: { find: { input: z.object({ query: z.string() }), execute } } })

// @ts-expect-error the schema requires a field that the model does not send
known.prompts.run('travel/plan', { tools: { find: tool({ input: z.object({ text: z.string() }), execute }) } })
// @ts-expect-error the field has a different type
known.prompts.run('travel/plan', { tools: { find: tool({ input: z.object({ query: z.number() }), execute }) } })
const days = tool({ input: z.object({ city, days: z.number() }), execute })
// @ts-expect-error the model may omit the field
known.prompts.run('travel/plan', { tools: { get_weather: days } })
// @ts-expect-error the prompt does not declare this tool
known.prompts.run('travel/plan', { tools: { find: ({ query }) => query, get_wether: () => 1 } })
// @ts-expect-error the prompt does not declare this tool
known.prompts.stream('travel/plan', { tools: { fnid: tool({ input: z.object({ query: z.string() }), execute }) } })

// Without a registry, any tool name compiles.
open.prompts.run('anything', {
  tools: { any_name: tool({ input: z.object({ a: z.string() }), execute }), other: (args) => args.b },
})
