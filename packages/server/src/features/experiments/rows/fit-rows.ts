/** Checks before the first model call that every arm can run every row, and that a process can keep the texts. */
import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import { AppError, issueAt, refuse } from '../../../shared/app-error.ts'
import { parameterValues } from '../../templates/parameters.ts'
import type { PreparedArm } from '../arms/prepare-arm.ts'
import type { ExperimentTexts } from '../experiment.ts'
import type { RowInputs } from './fingerprint.ts'

interface CandidateRow extends RowInputs {
  uuid: string
  name: string
}

interface Misfit {
  exampleUuid: string
  name: string
  arm: number
  reason: string
  missing: unknown
  invalid: unknown
}

const mostNamed = 20

type ArmConfig = Pick<PreparedArm['text'], 'config' | 'usesSteps'>

export class RowFitter {
  readonly #arms: readonly ArmConfig[]
  readonly #misfits: Misfit[] = []
  #count = 0

  constructor(arms: readonly ArmConfig[]) {
    this.#arms = arms
  }

  check(row: CandidateRow): void {
    for (const [arm, config] of this.#arms.entries()) {
      const misfit = misfitOf(config, row, arm)
      if (!misfit) continue
      this.#count += 1
      if (this.#misfits.length < mostNamed) this.#misfits.push(misfit)
      return
    }
  }

  /** @throws AppError UnprocessableEntityError that names the first 20 rows. */
  assertAllFit(): void {
    if (this.#count > 0) throw refuse('rows-do-not-fit', { count: this.#count, rows: this.#misfits })
  }
}

function misfitOf({ config, usesSteps }: ArmConfig, row: CandidateRow, arm: number): Misfit | undefined {
  const place = { exampleUuid: row.uuid, name: row.name, arm }
  if (usesSteps && row.messages.length > 0) {
    return { ...place, reason: 'messages-with-steps', missing: [], invalid: [] }
  }
  try {
    parameterValues(config, row.parameters)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { ...place, reason: error.reason, missing: error.details['missing'], invalid: error.details['invalid'] }
  }
}

/**
 * Each process reads the texts once, and keeps those of several experiments.
 * @throws AppError BadRequestError for texts that are too large together.
 */
export function assertTextsFit(texts: ExperimentTexts): void {
  const { textBytes } = EXPERIMENT_LIMITS
  if (Buffer.byteLength(JSON.stringify(texts)) > textBytes)
    throw refuse('invalid-body', issueAt('arms', `must have at most ${textBytes} bytes, with references and judges`))
}
