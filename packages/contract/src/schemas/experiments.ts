import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  absentBut,
  DocumentPath,
  Id,
  JsonObject,
  Name,
  nameText,
  orRaw,
  Person,
  ProjectParams,
  Timestamp,
  text,
  Uuid,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { pageSize } from '../query-values.ts'
import { EXPERIMENT_LIMITS, LIMITS } from '../vocabulary/limits.ts'
import { Report, ReportQuery } from './reports.ts'
import { RunOverrides } from './runs.ts'

export const ExperimentState = z.enum(['running', 'completed', 'stopped', 'failed']).meta({
  description: '`running` until all items have ended and are scored.',
})

export const ExperimentReason = z.enum(['user', 'budget', 'key', 'provider']).meta({
  description:
    'Why an experiment ended early: `user` for a stop request, `budget` when the recorded cost reached the budget, ' +
    '`key` when its API key was revoked, `provider` after ten external failures in a row.',
})

export const ExperimentItemState = z.enum(['waiting', 'running', 'ended', 'failed']).meta({
  description: '`failed` if the run failed, or if the row was changed or deleted before its run started.',
})

const label = nameText({ min: 1, max: LIMITS.nameLength })
const usd = z.number().nonnegative()

export const ExperimentOrigin = absent({
  branch: text({ max: LIMITS.nameLength }).exactOptional(),
  commit: text({ max: LIMITS.nameLength }).exactOptional(),
  url: text({ max: LIMITS.reasonLength }).exactOptional(),
}).meta({
  id: 'ExperimentOrigin',
  description: 'Where an experiment was started, for example a pull request.',
  example: "{ branch: 'tone', commit: '9f0d6c1e' }",
})

export const NewExperimentArm = absent({
  versionUuid: z.string().meta({
    description: 'The uuid of a version, `live`, or `draft` for your newest draft of the project.',
  }),
  overrides: RunOverrides.exactOptional(),
  label: label.exactOptional().meta({ description: 'Default: the title of the version, with the overrides.' }),
}).meta({ id: 'NewExperimentArm', example: "{ versionUuid: 'live', overrides: { model: 'gpt-6-luna' } }" })

const { arms, trials, concurrency, budgetUsd, maxRuns } = EXPERIMENT_LIMITS

export const CreateExperimentBody = absent({
  path: DocumentPath,
  arms: z.array(NewExperimentArm).min(1).max(arms).meta({ description: 'The first arm is the baseline.' }),
  tag: nameText({ min: 1, max: LIMITS.tagLength }).exactOptional().meta({
    description: 'Only the rows with this tag.',
  }),
  examples: z.array(Uuid).min(1).max(EXPERIMENT_LIMITS.rows).exactOptional().meta({
    description: 'Only these rows. Default: all examples of the prompt.',
  }),
  trials: z.int().min(1).max(trials.most).default(trials.byDefault).meta({
    description: 'How often each arm runs each row.',
  }),
  evaluations: z.array(Uuid).max(EXPERIMENT_LIMITS.evaluations).exactOptional().meta({
    description: 'Default: all evaluations of the prompt and `Checks`.',
  }),
  concurrency: z.int().min(1).max(concurrency.most).default(concurrency.byDefault),
  budgetUsd: z
    .number()
    .positive()
    .exactOptional()
    .meta({
      description: `No item starts when the recorded cost has reached it. Default: ${budgetUsd}. Limited by the server.`,
    }),
  maxRuns: z.int().min(1).max(maxRuns.most).default(maxRuns.byDefault).meta({
    description: 'Rows × arms × trials may not exceed it.',
  }),
  origin: ExperimentOrigin.exactOptional(),
}).meta({
  id: 'CreateExperimentBody',
  example: "{ path: 'support/reply', arms: [{ versionUuid: 'live' }, { versionUuid: 'draft' }] }",
})

export const ExperimentArm = z
  .object({
    versionUuid: Uuid,
    label: z.string(),
    overrides: RunOverrides.nullable(),
    fingerprint: z.string().meta({
      description: 'SHA-256 of the text, its settings, its agents, and the provider key and model that it uses.',
    }),
  })
  .meta({
    id: 'ExperimentArm',
    description: 'A text with its settings.',
    example: 'const { arms } = await stet.experiments.get(uuid)',
  })

const count = z.int().nonnegative()

export const Experiment = z
  .object({
    uuid: Uuid,
    projectId: Id,
    path: z.string(),
    documentUuid: Uuid,
    tag: z.string().nullable(),
    state: ExperimentState,
    reason: ExperimentReason.nullable(),
    isStale: z.boolean().meta({
      description: 'Whether the text of an agent changed while the experiment ran, so that it gives no verdict.',
    }),
    arms: z.array(ExperimentArm).meta({ description: 'The first arm is the baseline.' }),
    trials: z.int(),
    concurrency: z.int(),
    maxRuns: z.int(),
    budgetUsd: usd,
    costUsd: usd.meta({ description: 'Of the runs of its items and judges. A run without a known price counts as 0.' }),
    counts: z.object({ total: count, waiting: count, running: count, ended: count, failed: count }).meta({
      description: 'The items by state.',
    }),
    evaluations: z.array(z.object({ uuid: Uuid, name: z.string(), type: z.string() })),
    estimateUsd: usd.nullable().meta({
      description: 'Runs × the mean cost of the last 20 runs of this prompt with this model; `null` if unknown.',
    }),
    origin: ExperimentOrigin.nullable(),
    author: Person.meta({ description: 'The author of the API key that started it.' }),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .meta({
    id: 'Experiment',
    description: 'Arms of one prompt, run over its examples.',
    example: 'const { state, counts } = await stet.experiments.get(uuid)',
  })

export const ListExperimentsQuery = z
  .object({
    documentUuid: z.string().exactOptional(),
    limit: pageSize.exactOptional().meta({ description: 'Default: 20.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `nextCursor` of the previous page.' }),
  })
  .meta({ id: 'ListExperimentsQuery' })

const nextCursor = z.string().nullable().meta({ description: 'Opaque; `null` on the last page.' })

export const ExperimentPage = z.object({ items: z.array(Experiment), nextCursor }).meta({
  id: 'ExperimentPage',
  example: 'const isLastPage = page.nextCursor === null',
})

export const ItemScore = z
  .object({
    evaluationUuid: Uuid,
    passed: z.boolean().nullable().meta({ description: '`null` if unscored.' }),
    by: z.enum(['person', 'auto']).meta({ description: 'A score by a person outranks an automatic one.' }),
    code: z.string().nullable().meta({ description: 'Why the item is unscored.' }),
    reason: z.string().nullable(),
  })
  .meta({
    id: 'ItemScore',
    description: 'The score that counts.',
    example: 'const [row] = (await stet.experiments.items(uuid)).items',
  })

export const ExperimentItem = z
  .object({
    uuid: Uuid,
    arm: z.int().nonnegative().meta({ description: 'An index in `arms`.' }),
    trial: z.int().positive(),
    attempt: z.int().positive(),
    state: ExperimentItemState,
    code: z.string().nullable().meta({
      description: 'The error code of the run, `row-changed`, or `open-tool-call`.',
    }),
    conversationUuid: Uuid.nullable().meta({ description: '`null` until the item has started.' }),
    answer: z
      .string()
      .nullable()
      .meta({
        description: `The text of the answer, of which at most ${EXPERIMENT_LIMITS.answerBytes} bytes are shown.`,
      }),
    isAnswerCut: z.boolean(),
    isAnswerDropped: z.boolean().meta({ description: 'Whether the retention of experiments has dropped the answer.' }),
    costUsd: usd.nullable().meta({ description: '`null` if unknown.' }),
    durationMs: count.nullable(),
    scores: z.array(ItemScore),
  })
  .meta({
    id: 'ExperimentItem',
    description: 'One arm on one row.',
    example: 'const [row] = (await stet.experiments.items(uuid)).items',
  })

export const ExperimentRow = z
  .object({
    exampleUuid: Uuid,
    name: z.string(),
    tags: z.array(z.string()),
    parameters: JsonObject.nullable().meta({ description: 'The inputs of the row now; `null` if it was deleted.' }),
    expected: z.unknown().meta({ description: '`null` without one.' }),
    hasChanged: z
      .boolean()
      .meta({ description: 'Whether the inputs were edited or deleted since the experiment began.' }),
    items: z.array(ExperimentItem).meta({ description: 'By arm and trial.' }),
  })
  .meta({
    id: 'ExperimentRow',
    example: 'for await (const { name, items } of stet.experiments.items(uuid)) console.log(name, items)',
  })

export const ExperimentRowPage = z.object({ items: z.array(ExperimentRow), nextCursor }).meta({
  id: 'ExperimentRowPage',
  example: 'const isLastPage = page.nextCursor === null',
})

export const ExperimentRowFilter = z.enum(['broke', 'fixed', 'failed', 'unscored', 'differs']).meta({
  description:
    '`broke`: passes in the baseline and fails in the arm. `fixed`: the reverse. `failed`: fails in the arm. `unscored`: ' +
    'has no score in the arm. `differs`: the answers of arm and baseline differ.',
})

export const ListExperimentItemsQuery = z
  .object({
    arm: z
      .string()
      .regex(/^[0-3]$/, { error: 'must be 0 to 3' })
      .exactOptional()
      .meta({ description: 'The arm that `filter` looks at, as an index. Default: the last one.' }),
    filter: ExperimentRowFilter.exactOptional(),
    evaluationUuid: z.string().exactOptional().meta({
      description: 'The evaluation that `filter` looks at. Default: all; a row passes if it passes each one.',
    }),
    limit: pageSize.exactOptional().meta({ description: 'The number of rows. Default: 50.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `nextCursor` of the previous page.' }),
  })
  .meta({ id: 'ListExperimentItemsQuery' })

export const ResumeExperimentBody = absent({
  rows: z.literal('new').exactOptional().meta({
    description: 'Also runs the rows that are new or changed.',
  }),
  budgetUsd: z.number().positive().exactOptional().meta({ description: 'A new budget. Default: the earlier one.' }),
}).meta({ id: 'ResumeExperimentBody', example: "{ rows: 'new' }" })

export const NewItemScore = absentBut(['passed'], {
  itemUuid: Uuid,
  evaluation: Name.meta({ description: 'The name of a `code` evaluation: `<file>:<scorer>`.' }),
  passed: z.boolean().nullable().meta({ description: '`null` if unscored.' }),
  score: z.number().min(0).max(1).exactOptional(),
  code: nameText({ min: 1, max: LIMITS.nameLength }).exactOptional().meta({
    description: 'Why the item is unscored. Default: `no-score`.',
  }),
  reason: text({ max: LIMITS.reasonLength }).exactOptional(),
}).meta({
  id: 'NewItemScore',
  example:
    "{ itemUuid: '1f2e3d4c-5b6a-5978-8695-a4b3c2d1e0f9', evaluation: 'refund.eval.ts:citesOrder', passed: true }",
})

export const AddScoresBody = absent({
  scores: z.array(NewItemScore).min(1).max(EXPERIMENT_LIMITS.scores),
}).meta({
  id: 'AddScoresBody',
  example:
    "{ scores: [{ itemUuid: '1f2e3d4c-5b6a-5978-8695-a4b3c2d1e0f9', evaluation: 'refund.eval.ts:citesOrder', passed: true }] }",
})

export const AddedScores = z.object({ added: count }).meta({ id: 'AddedScores', example: '{ added: 50 }' })

const c = initContract()

const ExperimentParams = z.object({
  experimentUuid: z.string().meta({ description: 'The uuid of the experiment.' }),
})

export const experimentRoutes = {
  create: {
    summary: 'Start an experiment',
    description:
      'Runs 1 to 4 arms of a prompt over its examples. Everything is checked before the first model call: each arm must ' +
      'compile, and each row must satisfy the declared parameters of each arm.',
    pathParams: ProjectParams,
    body: CreateExperimentBody,
    responses: withErrors({ 201: orRaw(Experiment) }),
  },
  list: {
    summary: 'List experiments',
    description: 'Newest first.',
    pathParams: ProjectParams,
    query: ListExperimentsQuery,
    responses: withErrors({ 200: ExperimentPage }),
  },
  get: {
    summary: 'Get an experiment',
    description: 'With its cost and the number of its items by state.',
    pathParams: ExperimentParams,
    responses: withErrors({ 200: Experiment }),
  },
  items: {
    summary: 'List the rows of an experiment',
    description: 'Page by page in the order of the rows, each with the items of all arms.',
    pathParams: ExperimentParams,
    query: ListExperimentItemsQuery,
    responses: withErrors({ 200: orRaw(ExperimentRowPage) }),
  },
  report: {
    summary: 'Get the report of an experiment',
    description:
      'What broke and what was fixed against the baseline, with the interval of the difference, cost and time. Computed ' +
      'when it is read, also while the experiment runs.',
    pathParams: ExperimentParams,
    query: ReportQuery,
    responses: withErrors({ 200: Report }),
  },
  stop: {
    summary: 'Stop an experiment',
    description: 'Starts no more items and stops the active ones. An experiment that has ended stays as it is.',
    pathParams: ExperimentParams,
    body: c.noBody(),
    responses: withErrors({ 200: Experiment }),
  },
  resume: {
    summary: 'Resume an experiment',
    description:
      'Gives each item that is unscored, or did not start, a new attempt. The other items keep their results. 409 while it runs.',
    pathParams: ExperimentParams,
    body: ResumeExperimentBody,
    responses: withErrors({ 200: orRaw(Experiment) }),
  },
  scores: {
    summary: 'Add scores of your own code',
    description:
      'Stores what your scorers found, in evaluations of the type `code`, which are created on demand. A newer score of ' +
      'an item replaces the earlier one.',
    pathParams: ExperimentParams,
    body: AddScoresBody,
    responses: withErrors({ 200: orRaw(AddedScores) }),
  },
} as const
