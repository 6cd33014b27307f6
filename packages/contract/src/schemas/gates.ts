import { z } from 'zod'
import { absent, DocumentPath, Name, nullsAbsent, ProjectParams, Uuid } from '../common.ts'
import { withErrors } from '../errors.ts'
import { GATE_LIMITS, LIMITS } from '../vocabulary/limits.ts'
import { LabelUse, ReportRow, Verdict, VerdictCode } from './reports.ts'

const share = z.number().min(0).max(1)

export const GateMode = z.enum(['warn', 'block']).meta({
  description: '`warn` shows the verdicts. `block` refuses a publication without a passing result.',
})

/** Strict: a misspelled condition must not count as absent. */
export const Gate = z
  .strictObject({
    path: DocumentPath.min(1).max(GATE_LIMITS.pathLength).meta({
      description: 'The path of the prompt, or `*` for every prompt.',
    }),
    tag: z.string().min(1).max(LIMITS.tagLength).exactOptional().meta({
      description: 'Only rows with this tag. Default: all rows of the prompt.',
    }),
    evaluations: z.array(Name).min(1).max(GATE_LIMITS.evaluations).meta({
      description: 'The names of evaluations. A row passes if it passes in each of them.',
    }),
    minRows: z.int().min(1).max(GATE_LIMITS.rows).default(5).meta({
      description: 'Fewer compared rows are inconclusive.',
    }),
    maxUnscored: share.default(0.05).meta({ description: 'A larger share without a score is inconclusive.' }),
    labels: z
      .enum(['others', 'all', 'none'])
      .default('others')
      .meta({
        description:
          'The labels by people that count. `others`: not those by authors of the change. Without its label, an answer has ' +
          'its automatic score.',
      }),
    maxBroken: z.int().min(0).max(GATE_LIMITS.rows).exactOptional().meta({
      description: 'More broken rows fail. 0 is for prompts with deterministic results.',
    }),
    passRateAtLeast: share.exactOptional().meta({ description: 'A lower pass rate fails.' }),
    noWorseBy: z.number().gt(0).max(1).exactOptional().meta({
      description:
        'Fails unless the rows show that the pass rate has not dropped by more than this share. For 100 rows and more.',
    }),
    maxCostRatio: z.number().gt(0).max(GATE_LIMITS.costRatio).exactOptional().meta({
      description: 'A higher median cost against live fails. Where live is free, any cost fails.',
    }),
  })
  .meta({
    id: 'Gate',
    description:
      'A row with the tag `must` may never break, and the sign test of broken against fixed rows may not fail.',
    example: "{ path: 'support/reply', evaluations: ['Checks'] }",
  })

export const GateSettings = z.object({ mode: GateMode, gates: z.array(Gate) }).meta({
  id: 'GateSettings',
  description: 'What a publication asks of the experiments.',
  example: 'const { mode, gates } = await stet.projects.gates()',
})

export const GateSettingsBody = absent({
  mode: GateMode.default('warn'),
  gates: z.array(nullsAbsent(Gate)).max(GATE_LIMITS.gates),
}).meta({
  id: 'GateSettingsBody',
  description: 'Replaces all gates.',
  example: "{ mode: 'block', gates: [{ path: '*', evaluations: ['Checks'], minRows: 20 }] }",
})

export const GateVerdict = z
  .object({
    path: z.string(),
    documentUuid: Uuid,
    gate: z.int().nonnegative().meta({ description: 'The position of the gate in the list.' }),
    verdict: Verdict,
    code: VerdictCode.nullable().meta({ description: 'Null unless the verdict is inconclusive.' }),
    message: z.string().meta({ description: 'The verdict in one sentence.' }),
    failed: z
      .array(z.enum(['must', 'sign', 'maxBroken', 'passRateAtLeast', 'noWorseBy', 'maxCostRatio']))
      .meta({ description: 'The conditions that are not met.' }),
    experimentUuid: Uuid.nullable().meta({ description: 'The newest experiment with these texts.' }),
    tries: z.int().nonnegative().meta({ description: 'The number of experiments with these texts so far.' }),
    broke: z.int().nonnegative(),
    fixed: z.int().nonnegative(),
    same: z.int().nonnegative(),
    notPaired: z.int().nonnegative(),
    passRate: share.nullable(),
    rows: z.array(ReportRow).meta({ description: 'Broken rows, at most 20, those with the tag `must` first.' }),
    labels: LabelUse,
  })
  .meta({ id: 'GateVerdict', description: 'Whether a prompt of a draft passes a gate.' })

export const gateRoutes = {
  gates: {
    summary: 'Get the gates of a project',
    description: 'Without gates, the list is empty.',
    pathParams: ProjectParams,
    responses: withErrors({ 200: GateSettings }),
  },
  setGates: {
    summary: 'Set the gates of a project',
    description:
      'Replaces all gates. They apply to the next publication: each prompt that it changes needs a passing result of the ' +
      'newest experiment of its text against live. A rollback never asks.',
    pathParams: ProjectParams,
    body: GateSettingsBody,
    responses: withErrors({ 200: GateSettings }),
  },
}
