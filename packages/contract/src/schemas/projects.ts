import { z } from 'zod'
import { absent, absentBut, Id, Name, orRaw, ProjectParams, Timestamp, Uuid } from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { TagUse } from './labels.ts'
import { Stats, StatsQuery } from './stats.ts'
import { Version } from './versions.ts'

const RetentionDays = z.int().min(1).max(LIMITS.retentionDays)

export const Project = z
  .object({
    id: Id,
    name: z.string(),
    workspaceId: Id,
    liveVersionUuid: Uuid.nullable().meta({
      description: 'The published version; `null` before the first publication.',
    }),
    defaultProvider: z.string().nullable(),
    defaultModel: z.string().nullable(),
    retentionDays: RetentionDays.nullable().meta({
      description: 'Days after which ended conversations are deleted; `null` means the setting of the server.',
    }),
    keepParameters: z.boolean().nullable().meta({
      description: 'Whether runs keep their parameters; `null` means the setting of the server.',
    }),
    lastEditedAt: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    deletedAt: z.null(),
  })
  .meta({
    id: 'Project',
    description:
      '`defaultProvider` applies to prompts that name no provider, and `defaultModel` to prompts that name no model.',
  })

export const CreateProjectBody = absent({
  name: Name,
  defaultProvider: z.string().exactOptional(),
  defaultModel: z.string().exactOptional(),
  retentionDays: RetentionDays.exactOptional().meta({
    description: 'Days after which ended conversations are deleted. Default: the setting of the server.',
  }),
}).meta({
  id: 'CreateProjectBody',
  example: "{ name: 'Support', defaultProvider: 'openai', defaultModel: 'gpt-6-luna', retentionDays: 90 }",
})

export const UpdateProjectBody = absentBut(['retentionDays', 'keepParameters'], {
  name: Name.exactOptional(),
  defaultProvider: z.string().exactOptional().meta({ description: '`""` clears the default.' }),
  defaultModel: z.string().exactOptional().meta({ description: '`""` clears the default.' }),
  retentionDays: RetentionDays.nullable().exactOptional().meta({
    description: 'Days after which ended conversations are deleted; `null` restores the setting of the server.',
  }),
  keepParameters: z.boolean().nullable().exactOptional().meta({
    description: 'Whether runs keep their parameters, from the next run on; `null` restores the setting of the server.',
  }),
}).meta({
  id: 'UpdateProjectBody',
  description: 'Changes a project. Absent fields stay unchanged.',
  example: "{ defaultModel: '' } // clears the default",
})

export const DeleteProjectBody = absent({ name: z.string() }).meta({
  id: 'DeleteProjectBody',
  description: "Confirms a deletion by the project's name, so that a mistyped id deletes nothing.",
  example: "{ name: 'Support' }",
})

export const DeletedProject = z.object({ id: Id }).meta({ id: 'DeletedProject' })

export const CreatedProject = z
  .object({ project: Project, version: Version })
  .meta({ id: 'CreatedProject', example: "const { project, version } = created // version.status is 'draft'" })

export const projectRoutes = {
  list: {
    summary: 'List projects',
    description: 'The last edited project comes first. A restricted key gets only its own project.',
    responses: withErrors({ 200: z.array(Project) }),
  },
  create: {
    summary: 'Create a project',
    description: 'The project starts with one draft and without a live version.',
    body: CreateProjectBody,
    responses: withErrors({ 201: orRaw(CreatedProject) }),
  },
  update: {
    summary: 'Change a project',
    description: 'Changes the name, the defaults and the retention. Absent keys stay unchanged.',
    pathParams: ProjectParams,
    body: UpdateProjectBody,
    responses: withErrors({ 200: Project }),
  },
  delete: {
    summary: 'Delete a project',
    description:
      'Permanently deletes its prompts, versions, evaluations and conversations, and the keys restricted to it. The body repeats its name.',
    pathParams: ProjectParams,
    body: DeleteProjectBody,
    responses: withErrors({ 200: DeletedProject }),
  },
  stats: {
    summary: 'Count the runs of a project',
    description:
      'Runs with errors, cost, tokens, durations and times to the first text, as a whole and by step. Sums are exact; percentiles are approximate. A run counts once, at its end, under the model of its last call.',
    pathParams: ProjectParams,
    query: StatsQuery,
    responses: withErrors({ 200: Stats }),
  },
  tags: {
    summary: 'List tags',
    description: `The tags of the conversations of the last 30 days, at most ${LIMITS.listedTags}, the most frequent first.`,
    pathParams: ProjectParams,
    responses: withErrors({ 200: z.array(TagUse) }),
  },
}
