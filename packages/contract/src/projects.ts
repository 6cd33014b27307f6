import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  absentBut,
  Id,
  LIMITS,
  Name,
  orTap,
  ProjectParams,
  type RouteMetadata,
  Timestamp,
  Uuid,
} from './common.ts'
import { withErrors } from './errors.ts'
import { Version } from './versions.ts'

const c = initContract()

const RetentionDays = z.int().min(1).max(LIMITS.retentionDays)

/**
 * A project: prompts, their versions, and defaults for prompts that name no model.
 *
 * @example
 * { "id": 1, "name": "default", "workspaceId": 1, "liveVersionUuid": null, … }
 */
export const Project = z
  .object({
    id: Id,
    name: z.string(),
    workspaceId: Id,
    liveVersionUuid: Uuid.nullable().meta({ description: 'The published version; null before the first publication.' }),
    defaultProvider: z.string().nullable(),
    defaultModel: z.string().nullable(),
    retentionDays: RetentionDays.nullable().meta({
      description: 'Days after which ended conversations are deleted; null: the setting of the server counts.',
    }),
    lastEditedAt: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    deletedAt: z.null(),
  })
  .meta({ id: 'Project' })
export type Project = z.infer<typeof Project>

/**
 * The body that creates a project.
 *
 * @example
 * { "name": "Support", "defaultProvider": "openai", "defaultModel": "gpt-4o-mini", "retentionDays": 90 }
 */
export const CreateProjectBody = absent({
  name: Name,
  defaultProvider: z.string().exactOptional(),
  defaultModel: z.string().exactOptional(),
  retentionDays: RetentionDays.exactOptional().meta({
    description: 'Days after which ended conversations are deleted. Default: the setting of the server.',
  }),
}).meta({ id: 'CreateProjectBody' })
export type CreateProjectBody = z.input<typeof CreateProjectBody>

/**
 * The body that changes a project; what is absent stays.
 *
 * @example
 * { "defaultModel": "" } // clears the default
 */
export const UpdateProjectBody = absentBut(['retentionDays'], {
  name: Name.exactOptional(),
  defaultProvider: z.string().exactOptional().meta({ description: '`""` clears the default.' }),
  defaultModel: z.string().exactOptional().meta({ description: '`""` clears the default.' }),
  retentionDays: RetentionDays.nullable().exactOptional().meta({
    description: 'Days after which ended conversations are deleted; null: the setting of the server counts again.',
  }),
}).meta({ id: 'UpdateProjectBody' })
export type UpdateProjectBody = z.input<typeof UpdateProjectBody>

/**
 * The body that deletes a project: its name, so that no id typed by mistake deletes anything.
 *
 * @example
 * { "name": "Support" }
 */
export const DeleteProjectBody = absent({ name: z.string() }).meta({ id: 'DeleteProjectBody' })
export type DeleteProjectBody = z.input<typeof DeleteProjectBody>

/**
 * A project that was deleted.
 *
 * @example
 * { "id": 7 }
 */
export const DeletedProject = z.object({ id: Id }).meta({ id: 'DeletedProject' })
export type DeletedProject = z.infer<typeof DeletedProject>

/**
 * A new project and the draft it starts with.
 *
 * @example
 * const { project, version } = created // version.status is 'draft'
 */
export const CreatedProject = z.object({ project: Project, version: Version }).meta({ id: 'CreatedProject' })
export type CreatedProject = z.infer<typeof CreatedProject>

export const projects = c.router({
  list: {
    method: 'GET',
    path: '/projects',
    summary: 'List projects',
    description: 'The last edited first. A key that is restricted to a project gets that one.',
    responses: withErrors({ 200: z.array(Project) }),
    metadata: { scope: 'read', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
  create: {
    method: 'POST',
    path: '/projects',
    summary: 'Create a project',
    description: 'It starts with one draft and nothing live.',
    body: CreateProjectBody,
    responses: withErrors({ 201: orTap(CreatedProject) }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['restricted-key'],
    } as const satisfies RouteMetadata,
  },
  update: {
    method: 'PUT',
    path: '/projects/:projectId',
    summary: 'Change a project',
    description: 'Changes the name, the defaults and the retention; what is absent stays as it is.',
    pathParams: ProjectParams,
    body: UpdateProjectBody,
    responses: withErrors({ 200: Project }),
    metadata: { scope: 'write', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
  delete: {
    method: 'DELETE',
    path: '/projects/:projectId',
    summary: 'Delete a project',
    description:
      'Deletes its prompts, versions, evaluations and conversations, and the keys restricted to it, for good. The body repeats its name.',
    pathParams: ProjectParams,
    body: DeleteProjectBody,
    responses: withErrors({ 200: DeletedProject }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: false,
      streams: false,
      readsBody: true,
      errors: ['other-name', 'project-busy'],
    } as const satisfies RouteMetadata,
  },
})
