import type { PromptVersion } from '../../documents/document.ts'
import type { ProjectDefaults } from '../../runs/run.ts'
import type { TemplateSource } from '../../templates/template-engine.ts'

/** The text of a judge as it was when the experiment started, so that later edits do not change its verdicts. */
export interface JudgeText {
  source: TemplateSource
  version: PromptVersion
  path: string
  usesSteps: boolean
  config: Record<string, unknown>
  projectDefaults: ProjectDefaults
}

/** A judge of an experiment. */
export interface Judge {
  evaluationUuid: string
  /** Names the text, its agents, and the provider key and model that it uses. */
  fingerprint: string
  documentUuid: string
  text: JudgeText
}
