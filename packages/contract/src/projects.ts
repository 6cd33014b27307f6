import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import { absent, Id, Name, orTap, ProjectParams, type RouteMetadata, Timestamp, Uuid } from './common.ts'
import { withErrors } from './errors.ts'
import { Version } from './versions.ts'

const c = initContract()

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
 * { "name": "Support", "defaultProvider": "openai", "defaultModel": "gpt-4o-mini" }
 */
export const CreateProjectBody = absent({
  name: Name,
  defaultProvider: z.string().exactOptional(),
  defaultModel: z.string().exactOptional(),
}).meta({ id: 'CreateProjectBody' })
export type CreateProjectBody = z.input<typeof CreateProjectBody>

/**
 * The body that changes a project; what is absent stays.
 *
 * @example
 * { "defaultModel": "" } // clears the default
 */
export const UpdateProjectBody = absent({
  name: Name.exactOptional(),
  defaultProvider: z.string().exactOptional().meta({ description: '`""` clears the default.' }),
  defaultModel: z.string().exactOptional().meta({ description: '`""` clears the default.' }),
}).meta({ id: 'UpdateProjectBody' })
export type UpdateProjectBody = z.input<typeof UpdateProjectBody>

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
    description: 'Changes the name and the defaults; what is absent stays as it is.',
    pathParams: ProjectParams,
    body: UpdateProjectBody,
    responses: withErrors({ 200: Project }),
    metadata: { scope: 'write', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
})
