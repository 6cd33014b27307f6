import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Finder, type FinderItem } from '../../../ui/finder.tsx'
import { pathsOf, projectsQuery, treeQuery, versionsQuery } from '../../queries.ts'
import { useRegistered } from '../../shortcuts.ts'
import { useProjectId, useVersion } from '../place.ts'
import { Keys } from './keys.tsx'
import { matching } from './matching.ts'

/** Finds prompts, versions, projects and actions, or versions only. */
export function Palette({ only, onClose }: { only?: 'versions'; onClose: () => void }) {
  const [query, setQuery] = useState('')
  const actions = useActions()
  const places = usePlaces()
  return (
    <Finder
      label={only ? 'Find a version' : 'Find'}
      placeholder={only ? 'Find a version' : 'Find a prompt, a version or an action'}
      query={query}
      onQuery={setQuery}
      items={matching(
        only ? places[only] : [...places.prompts, ...actions, ...places.versions, ...places.projects],
        query,
      )}
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
      onSelect: () =>
        void navigate({ to: '/p/$project/v/$version/prompts/$', params: { project, version, _splat: path } }),
    })),
    versions: (versions.data ?? []).map(({ uuid, title, version: number, isLive, status, authorName }) => ({
      id: `version ${uuid}`,
      label: number === null ? title : `v${number} ${title}`,
      group: 'Versions',
      note: isLive ? 'live' : status === 'draft' ? `draft of ${authorName}` : 'published',
      onSelect: () =>
        void navigate({
          to: '/p/$project/v/$version/prompts',
          params: { project, version: isLive ? 'live' : uuid },
        }),
    })),
    projects: projects
      .filter(({ id }) => id !== projectId)
      .map(({ id, name }) => ({
        id: `project ${id}`,
        label: name,
        group: 'Other projects',
        onSelect: () =>
          void navigate({ to: '/p/$project/v/$version/prompts', params: { project: String(id), version: 'live' } }),
      })),
  }
}
