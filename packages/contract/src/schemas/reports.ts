import { z } from 'zod'
import { Person, Uuid } from '../common.ts'

const share = z.number().min(0).max(1)
const points = z.number().min(-1).max(1)

export const Verdict = z.enum(['pass', 'fail', 'inconclusive']).meta({
  description: '`inconclusive`: there is no result that can be trusted. `code` says why.',
})

export const VerdictCode = z
  .enum([
    'no-experiment',
    'running',
    'stopped',
    'stale',
    'rows-changed',
    'too-few-rows',
    'unscored',
    'judge-changed',
    'judge-not-validated',
  ])
  .meta({
    description:
      'Why a verdict is inconclusive. `no-experiment`: no experiment has compared these texts. `stale`: an agent changed ' +
      'during the experiment. `rows-changed`: the rows are no longer those of the experiment. `judge-changed`: the judge ' +
      'was edited since. `judge-not-validated`: the judge has not been shown to agree with people.',
  })

export const PassRate = z
  .object({
    passed: z.int().nonnegative(),
    rows: z.int().nonnegative().meta({ description: 'The rows with a score in both arms.' }),
    rate: share.nullable().meta({ description: 'Null without rows.' }),
    low: share.meta({ description: "The lower end of Wilson's 95 % interval." }),
    high: share.meta({ description: 'The upper end.' }),
  })
  .meta({ id: 'PassRate', description: 'The share of rows that pass.' })

export const ReportRow = z
  .object({
    exampleUuid: Uuid,
    name: z.string(),
    tags: z.array(z.string()),
    must: z.boolean().meta({ description: 'The row has the tag `must`: it may not break.' }),
  })
  .meta({ id: 'ReportRow' })

export const CodeCount = z
  .object({ code: z.string(), count: z.int().positive() })
  .meta({ id: 'CodeCount', description: 'The number of items without a score for the same reason.' })

export const ReportPair = z
  .object({
    baseline: z.int().nonnegative().meta({ description: 'The position of the arm in `arms` of the experiment: 0.' }),
    arm: z.int().positive(),
    evaluationUuid: Uuid.nullable().meta({ description: 'Null for all evaluations that count together.' }),
    broke: z.int().nonnegative().meta({ description: 'The rows that pass in the baseline and fail in the arm.' }),
    brokeMust: z.int().nonnegative().meta({ description: 'Those of them with the tag `must`.' }),
    fixed: z.int().nonnegative().meta({ description: 'The rows that fail in the baseline and pass in the arm.' }),
    same: z.int().nonnegative(),
    notPaired: z.int().nonnegative().meta({ description: 'The rows without a score in one of both arms.' }),
    rows: z
      .object({ broke: z.array(ReportRow), fixed: z.array(ReportRow) })
      .meta({ description: 'At most 200 each, those with the tag `must` first.' }),
    passRates: z.object({ baseline: PassRate, arm: PassRate }).meta({ description: 'Over the same rows.' }),
    difference: z
      .object({
        value: points.meta({ description: 'The pass rate of the arm minus that of the baseline.' }),
        low: points.meta({ description: 'The lower end of the 95 % interval.' }),
        high: points.meta({ description: 'The upper end.' }),
        halfWidth: z.number().nonnegative().meta({ description: 'A smaller difference could be chance.' }),
        lowOneSided: points.meta({ description: 'The lower end of the one-sided 95 % interval, for `noWorseBy`.' }),
      })
      .nullable()
      .meta({ description: 'Null if no row has a score in both arms.' }),
    sign: z
      .object({
        p: share.meta({ description: 'The chance of at least so many broken rows if both were equally good.' }),
      })
      .meta({ description: 'The exact one-sided sign test of broken against fixed rows. Below 0.05 it fails.' }),
    power: z
      .array(z.object({ loss: share, share }))
      .meta({ description: 'How often the test shows a loss of so many points with this number of rows.' }),
    verdict: Verdict,
    code: VerdictCode.exactOptional(),
    words: z
      .object({
        counts: z.string().meta({ description: '`3 broke (1 must), 5 fixed, 42 same`' }),
        rates: z.string().meta({
          description: '`94 % → 98 %, difference +4 points (95 % between −8 and +16)`',
        }),
        chance: z.string().meta({ description: '`With these 50 rows, a difference below 12 points could be chance.`' }),
        power: z.string().meta({
          description:
            '`50 rows show a loss of 20 points in 8 of 10 cases, of 10 points in 4 of 10. More rows see more.`',
        }),
      })
      .meta({ description: 'The result in sentences, the same in every client. Empty where there is nothing to say.' }),
  })
  .meta({ id: 'ReportPair', description: 'Compares an arm with the baseline, over rows with a score in both.' })

export const ReportEvaluation = z
  .object({
    uuid: Uuid,
    name: z.string(),
    type: z.string().meta({ description: '`human`, `rule`, `judge` or `code`.' }),
    counts: z.boolean().meta({ description: 'Whether it is part of the result of all evaluations together.' }),
    leftOut: z
      .enum(['human', 'not-validated', 'changed', 'no-expected'])
      .exactOptional()
      .meta({
        description:
          'Why it does not count: people score it, the judge has not been shown to agree with them or was edited since, ' +
          'or no row says what it expects.',
      }),
    broke: z.array(z.int().nonnegative()).meta({ description: 'One entry for each arm; 0 for the baseline.' }),
    fixed: z.array(z.int().nonnegative()),
  })
  .meta({ id: 'ReportEvaluation' })

export const ArmFigures = z
  .object({
    arm: z.int().nonnegative(),
    ended: z.int().nonnegative(),
    failed: z.int().nonnegative(),
    scored: z.int().nonnegative().meta({ description: 'Items with a score. Each trial of a row is an item.' }),
    unscored: z.array(CodeCount).meta({ description: 'Items without a score, the most frequent code first.' }),
    costUsd: z.number().nonnegative().nullable().meta({ description: 'The sum. Null if no price is known.' }),
    costRatio: z
      .number()
      .nonnegative()
      .nullable()
      .meta({
        description:
          'The median over rows of the cost against that of the baseline. Null for the baseline, without a known cost, and ' +
          'if only the baseline is free.',
      }),
    durationMs: z.number().nonnegative().meta({ description: 'The sum.' }),
    durationRatio: z.number().nonnegative().nullable(),
    p50Ms: z.number().nonnegative().nullable(),
    p95Ms: z.number().nonnegative().nullable(),
  })
  .meta({ id: 'ArmFigures', description: 'Cost, time and missing scores of an arm.' })

export const LabelUse = z
  .object({
    count: z.int().nonnegative().meta({ description: 'The scores by people that count.' }),
    people: z.array(Person).meta({ description: 'Their authors, those with the most labels first. At most 20.' }),
    leftOut: z.int().nonnegative().meta({ description: 'Labels that do not count: see `labels` of the gate.' }),
  })
  .meta({ id: 'LabelUse' })

export const ReportWarning = z
  .enum(['running', 'stopped', 'stale', 'demo', 'few-rows', 'unscored', 'unknown-cost'])
  .meta({
    description:
      '`demo`: the demo provider answered, so the numbers mean nothing. `few-rows`: fewer than 20 rows are compared. ' +
      '`unscored`: over 5 % of the items have no score. `unknown-cost`: a model has no price.',
  })

export const Report = z
  .object({
    experimentUuid: Uuid,
    evaluationUuid: Uuid.nullable().meta({ description: 'The chosen evaluation. Null for all together.' }),
    rows: z.int().nonnegative(),
    trials: z.int().positive(),
    pairs: z.array(ReportPair).meta({ description: 'One for each arm but the baseline, in their order.' }),
    evaluations: z.array(ReportEvaluation),
    arms: z.array(ArmFigures),
    labels: LabelUse,
    warnings: z.array(ReportWarning),
  })
  .meta({
    id: 'Report',
    description: 'What an experiment shows. Computed from its items, and not stored.',
    example: 'const [pair] = report.pairs // 3 broke, 5 fixed, 42 same',
  })

export const ReportQuery = z
  .object({
    evaluation: z.string().exactOptional().meta({
      description: 'The uuid of an evaluation of the experiment. Default: all that count together.',
    }),
  })
  .meta({ id: 'ReportQuery' })
