import { type ComponentType, createElement, lazy } from 'react'
import { loadPart } from './lines/upgrade.ts'

/**
 * A screen that is loaded when it is first shown. TanStack's own `lazyRouteComponent` reloads the page by itself if the
 * screen is gone after an upgrade; here the user decides, after everything is saved.
 */
export function screen<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  const loaded = () => loadPart(load)
  const Screen = lazy(async () => ({ default: (await loaded())[name] }))
  // The router calls this before it leaves the current screen.
  return Object.assign(() => createElement(Screen), {
    preload: async () => {
      await loaded()
    },
  })
}
