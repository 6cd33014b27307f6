import type { EvaluationOwner, TemplateEngine } from '../../../src/features/templates/template-engine.ts'
import { endlessAnswer } from './engine.ts'

/** Keeps two evaluations of an owner queued or running until stopped. No limit refuses them. */
export function keepEvaluating(engine: TemplateEngine, owner: EvaluationOwner): { stop(): Promise<void> } {
  const controller = new AbortController()
  const { signal } = controller
  let count = 0
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      count += 1
      const answer = { ...endlessAnswer, value: `${endlessAnswer.value}${count}` }
      await engine.checkAnswer(answer, { ...owner, signal, isRun: true }).catch(() => undefined)
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
