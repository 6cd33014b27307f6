/** The evaluations that stet creates for a project when they are first needed. */
import { randomUUID } from 'node:crypto'
import type { BuiltIn } from '@stet/contract/vocabulary'
import type { Stores } from '../deps.ts'
import { type BuiltInEvaluation, completeConfiguration } from './evaluation.ts'

export const checksName = 'Checks'

const facts = {
  feedback: { name: 'Feedback', type: 'human', description: "Feedback of your application's users" },
  checks: { name: checksName, type: 'rule', description: 'The checks of each row' },
} as const

export interface InProject {
  workspaceId: number
  projectId: number
  at: Date
}

export function builtInEvaluation(builtIn: BuiltIn, { workspaceId, projectId, at }: InProject): BuiltInEvaluation {
  return {
    ...{ uuid: randomUUID(), workspaceId, projectId, documentUuid: null, metric: 'binary', ...facts[builtIn] },
    ...{ builtIn, checks: null, judgeDocumentUuid: null, archivedAt: null, createdAt: at, updatedAt: at },
    configuration: completeConfiguration('binary', {}),
  }
}

/** Returns the uuid of the project's evaluation that scores the checks of rows. */
export function ensureChecks({ evaluations }: Pick<Stores, 'evaluations'>, project: InProject): Promise<string> {
  return evaluations.findOrCreate(project.workspaceId, builtInEvaluation('checks', project))
}
