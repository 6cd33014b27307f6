import type { EvaluationOwner, TemplateEngine } from '../../../src/features/templates/template-engine.ts'
import { endless, now, sourceOf } from './engine.ts'

/** Keeps two evaluations of an owner queued or running until stopped. No limit refuses them. */
export function keepEvaluating(engine: TemplateEngine, owner: EvaluationOwner): { stop(): Promise<void> } {
  const controller = new AbortController()
  const { signal } = controller
  let count = 0
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      count += 1
      const source = sourceOf(`${count} ${endless}`)
      await engine.step({ source, parameters: {}, now }, { ...owner, signal, isRun: true }).catch(() => undefined)
    }
  }
  const both = Promise.all([one(), one()])
  return {
    async stop() {
      controller.abort()
      await both
    },
  }
}
