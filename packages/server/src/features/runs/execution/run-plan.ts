/** What a run is to do, known before it starts: where its steps come from and what all of them share. */
import type { Message } from '../../templates/message.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import type { ToolScope } from './tools/tool-scope.ts'

interface PlannedStep {
  done: false
  /** What the model receives. */
  input: Message[]
  /** What the step adds to the conversation. */
  added: Message[]
  config: Record<string, unknown>
}

/** What counts where a prompt names no provider or model. */
export interface ProjectDefaults {
  provider: string | null
  model: string | null
}

/** The caller that waits for a step. */
export type StepAsker = Pick<EvaluationOwner, 'signal' | 'isRun'>

export interface RunPlan {
  workspaceId: number
  apiKeyId?: number | undefined
  /** The document, named in errors. */
  path: string
  tools: ToolScope
  projectDefaults: ProjectDefaults
  /** The next step, given the messages of the one before; each instance serves one run. */
  nextStep(answer: Message[] | undefined, asker: StepAsker): Promise<PlannedStep | { done: true; added: Message[] }>
  /** False asks providers for one plain answer. */
  stream: boolean
  /** The caller declares a published SDK. */
  declaredSdk: boolean
}
