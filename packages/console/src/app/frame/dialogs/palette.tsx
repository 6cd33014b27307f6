import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Finder, type FinderItem } from '../../../ui/finder.tsx'
import { momentText } from '../../../ui/time.tsx'
import { toPrompt, toPrompts } from '../../addresses.ts'
import { foundRunsQuery, pathsOf, projectsQuery, treeQuery, versionsQuery } from '../../queries.ts'
import { useRegistered } from '../../shortcuts.ts'
import { useProjectId, useVersion } from '../place.ts'
import { Keys } from './key-list.tsx'
import { matching } from './matching.ts'

/** Finds prompts, versions, projects and actions, or versions only. */
export function Palette({ only, onClose }: { only?: 'versions'; onClose: () => void }) {
  const [query, setQuery] = useState('')
  const actions = useActions()
  const places = usePlaces()
  const runs = useFoundRuns(only ? '' : query)
  return (
    <Finder
      label={only ? 'Find a version' : 'Find'}
      placeholder={only ? 'Find a version' : 'Find a prompt, a version, an action, or a run by its uuid'}
      query={query}
      onQuery={setQuery}
      items={[
        ...runs,
        ...matching(
          only ? places[only] : [...places.prompts, ...actions, ...places.versions, ...places.projects],
          query,
        ),
      ]}
      empty={`Nothing matches “${query}”.`}
      onClose={onClose}
    />
  )
}

function useActions(): FinderItem[] {
  return useRegistered()
    .filter(({ inPalette }) => inPalette !== false)
    .map(({ keys, label, blocked, run = () => undefined }, at) => ({
      id: `action ${at} ${label}`,
      label,
      group: 'Actions',
      note: keys && <Keys keys={keys} />,
      blocked,
      onSelect: run,
    }))
}

/** The runs and conversations of the project whose uuid starts with the query. A whole uuid may be of any project. */
function useFoundRuns(query: string): FinderItem[] {
  const navigate = useNavigate()
  const projectId = useProjectId()
  const prefix = uuidIn(query)
  const { data = [] } = useQuery({ ...foundRunsQuery(projectId, prefix ?? ''), enabled: prefix !== null })
  const open = (run: string) => () => void navigate({ to: '/runs/$run', params: { run } })
  const conversations = new Map(
    data.filter((run) => !startsWith(run.uuid, prefix)).map((run) => [run.conversationUuid, run]),
  )
  return [
    ...data.map(({ uuid, path, status, createdAt }) => ({
      id: `run ${uuid}`,
      label: path,
      group: 'Runs',
      note: `${status}, ${momentText(createdAt)}, ${uuid.slice(0, 8)}`,
      onSelect: open(uuid),
    })),
    ...[...conversations].map(([uuid, { path }]) => ({
      id: `conversation ${uuid}`,
      label: path,
      group: 'Conversations',
      note: `the latest run of ${uuid.slice(0, 8)}`,
      onSelect: open(uuid),
    })),
  ]
}

/** The query as the start of a uuid: at least 8 hexadecimal digits. Null for other queries. */
function uuidIn(query: string): string | null {
  const digits = query.trim().toLowerCase()
  return /^[\da-f-]{8,36}$/.test(digits) && digits.replaceAll('-', '').length >= 8 ? digits : null
}

function startsWith(uuid: string, prefix: string | null): boolean {
  return prefix !== null && uuid.replaceAll('-', '').startsWith(prefix.replaceAll('-', ''))
}

function usePlaces(): Record<'prompts' | 'versions' | 'projects', FinderItem[]> {
  const navigate = useNavigate()
  const projectId = useProjectId()
  const version = useVersion()
  const [paths, versions] = useQueries({
    queries: [
      { ...treeQuery(projectId ?? 0, version), select: pathsOf, enabled: projectId !== null },
      { ...versionsQuery(projectId ?? 0), enabled: projectId !== null },
    ],
  })
  const { data: projects = [] } = useQuery(projectsQuery)
  const project = String(projectId)
  return {
    prompts: (paths.data ?? []).map((path) => ({
      id: `prompt ${path}`,
      label: path,
      group: 'Prompts',
      onSelect: () => void navigate(toPrompt(project, version, path)),
    })),
    versions: (versions.data ?? []).map(({ uuid, title, version: number, isLive, status, authorName }) => ({
      id: `version ${uuid}`,
      label: number === null ? title : `v${number} ${title}`,
      group: 'Versions',
      note: isLive ? 'live' : status === 'draft' ? `draft of ${authorName}` : 'published',
      onSelect: () => void navigate(toPrompts(project, isLive ? 'live' : uuid)),
    })),
    projects: projects
      .filter(({ id }) => id !== projectId)
      .map(({ id, name }) => ({
        id: `project ${id}`,
        label: name,
        group: 'Other projects',
        onSelect: () => void navigate(toPrompts(id, 'live')),
      })),
  }
}
