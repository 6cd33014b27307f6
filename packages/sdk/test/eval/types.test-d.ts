/** Scorers are typed by the registry of prompts. */
import { defineEval, runScorers, type ScorerArgs, type ScorerVerdict } from '../../src/eval/index.ts'

interface Registry {
  'support/reply': { parameters: { ticket: string; tone?: 'kind' | 'short' } }
  'support/triage': { parameters: { ticket: string }; output: { urgency: 'low' | 'high' } }
}

declare function typed<Expected>(value: Expected): void
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function same<A, B>(proof: Same<A, B>): void

/** An entry of the registry as an application sees it. */
declare function evalOf<P extends keyof Registry & string>(
  path: P,
  options: Parameters<typeof defineEval<P, Registry>>[1],
): ReturnType<typeof defineEval<P, Registry>>

evalOf('support/reply', {
  scorers: {
    quotes: ({ output, parameters, input }) => output.includes(parameters.ticket) && input.tone !== 'kind',
    // The form of a scorer from autoevals.
    exact: async ({ output, expected }: { output: string; expected?: string | undefined }) => {
      return { name: 'ExactMatch', score: output === expected ? 1 : 0, metadata: { rationale: 'r' } }
    },
  },
})
evalOf('support/triage', {
  scorers: { urgency: ({ object, expected }) => object.urgency === expected?.urgency },
  threshold: 0.7,
})
// @ts-expect-error the prompt has no such parameter
evalOf('support/reply', { scorers: { one: ({ parameters }) => parameters.tikket !== undefined } })
// @ts-expect-error the answer has no such value
evalOf('support/triage', { scorers: { one: ({ object }) => object.urgency === 'medium' } })
// @ts-expect-error a scorer returns a score
evalOf('support/reply', { scorers: { one: () => 'yes' } })
// @ts-expect-error a scorer must return something
evalOf('support/reply', { scorers: { one: () => {} } })

same<ScorerArgs<Registry, 'support/reply'>['expected'], string | undefined>(true)
same<ScorerArgs<Registry, 'support/reply'>['object'], unknown>(true)
same<ScorerArgs<Registry, 'support/triage'>['object'], { urgency: 'low' | 'high' }>(true)
same<ScorerArgs<Registry, 'support/triage'>['expected'], { urgency: 'low' | 'high' } | undefined>(true)

// Without a registry, any path and any parameters compile.
const free = defineEval('anything', { scorers: { one: ({ parameters }) => parameters['a'] === 1 } })
declare const args: ScorerArgs
typed<Promise<ScorerVerdict[]>>(runScorers(free, args))
typed<string>(free.path)
