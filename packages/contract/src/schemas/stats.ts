import { z } from 'zod'
import { Timestamp, Uuid } from '../common.ts'
import { documentedAs } from '../documented.ts'
import { instant } from '../query-values.ts'

export const StatsVia = z.enum(['api', 'console', 'experiment', 'judge', 'all'])

const count = z.int().nonnegative()
const ms = z.int().nonnegative().nullable()

export const StatsFigures = z
  .object({
    runs: count.meta({
      description: 'The runs that ended in the time. An agent counts inside the run that called it.',
    }),
    errors: count,
    stopped: count,
    unpriced: count.meta({ description: 'Runs with a model call without a known price. `cost` leaves them out.' }),
    estimated: count.meta({ description: 'Runs whose tokens are partly estimated, because a model call did not end.' }),
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    cost: z.number().nonnegative().nullable().meta({ description: 'US dollars. Null if no run has a known price.' }),
    durationP50: ms.meta({ description: 'Milliseconds, approximate. Null without runs.' }),
    durationP95: ms,
    firstTokenP50: ms.meta({
      description: 'Milliseconds to the first text or tool call of streamed runs, approximate.',
    }),
    firstTokenP95: ms,
  })
  .meta({ id: 'StatsFigures', description: 'Figures of a group of runs.' })

export const StatsSeries = z
  .object({
    figures: StatsFigures,
    points: z.array(z.object({ at: Timestamp, figures: StatsFigures })).meta({
      description: 'The steps with runs, by the time at which they begin.',
    }),
  })
  .meta({ id: 'StatsSeries' })

export const Stats = z
  .object({
    from: Timestamp,
    to: Timestamp,
    stepSeconds: z.int().positive().meta({ description: '300 up to 3 hours, 3600 up to 48 hours, else days in UTC.' }),
    asOf: Timestamp.meta({ description: 'Runs that ended until then are counted.' }),
    running: count.meta({ description: 'The runs that are active now.' }),
    total: StatsSeries,
    series: z
      .array(
        z.object({
          key: z.string().nullable().meta({
            description: 'The uuid of a prompt or version, or a model. Null for runs that called no model.',
          }),
          label: z.string(),
          ...StatsSeries.shape,
        }),
      )
      .meta({ description: 'The `top` with the most runs. Empty with `by=none`.' }),
    other: StatsSeries.nullable().meta({ description: 'All runs that are in no series. Null if there are none.' }),
    marks: z
      .array(z.object({ at: Timestamp, versionUuid: Uuid, version: z.int().positive(), title: z.string() }))
      .meta({ description: 'The newest 200 publications and rollbacks in the time.' }),
  })
  .meta({
    id: 'Stats',
    description: 'How often the prompts of a project ran, how fast, and at what cost. It counts deleted runs too.',
    example: 'const { total } = await stet.projects.stats(1)\nconst { cost, unpriced } = total.figures',
  })

const top = z.int().min(1).max(12)

export const StatsQuery = z
  .object({
    from: instant.exactOptional().meta({
      description: 'Default: 24 hours before `to`. Both ends are extended to whole steps.',
    }),
    to: instant.exactOptional().meta({ description: 'Default: now. At most 366 days after `from`.' }),
    by: z.enum(['none', 'prompt', 'version', 'model']).exactOptional().meta({ description: 'Default: `none`.' }),
    documentUuid: z.string().exactOptional().meta({ description: 'Counts the runs of one prompt.' }),
    via: StatsVia.exactOptional().meta({ description: 'Default: `api`, the runs of applications.' }),
    top: documentedAs(
      z
        .string()
        .regex(/^\d{1,2}$/, { error: 'must be 1 to 12' })
        .transform(Number)
        .pipe(top),
      top,
    )
      .exactOptional()
      .meta({ description: 'The number of series. Default: 8.' }),
  })
  .meta({ id: 'StatsQuery' })
