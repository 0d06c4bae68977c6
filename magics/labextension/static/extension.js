// The plugins.  Each plugin needs modules that JupyterLab shares.  If a module is missing or incompatible, the plugin
// is left out with a warning on the console, and JupyterLab works as it would without the plugin.

import { sourceIn } from "./board/link.js";
import { createColors } from "./colors.js";
import { provideCompletions } from "./completions.js";
import { createCurrentLine } from "./current.js";
import { createDefinitions } from "./definitions.js";
import { createHover, createSignature } from "./hover.js";
import { openProgram } from "./opening.js";
import { createRenderer, createRuns } from "./runs.js";
import { createAsk, createServices, IN_PAGE } from "./services.js";
import { createUnderlines } from "./underlines.js";

// ipywidgets has -10: we render an output that has both MIME types, whether or not the notebook is trusted.
const BEFORE_WIDGETS = -20;

export async function createPlugins(shared) {
  const source = IN_PAGE ? sourceIn(location.hash) : null;
  const found = await Promise.all([
    plugin("editor", async () => {
      const [apputils, codemirror, notebook, services, language, state, view] = await modules(
        shared,
        "@jupyterlab/apputils",
        "@jupyterlab/codemirror",
        "@jupyterlab/notebook",
        "@jupyterlab/services",
        "@codemirror/language",
        "@codemirror/state",
        "@codemirror/view",
      );
      return [
        [codemirror.IEditorExtensionRegistry],
        [notebook.INotebookTracker],
        (registry, tracker) => {
          const { ask, panelOf } = tracker ? createServices({ services, tracker }) : {};
          const all = [
            createColors({ language, state, view }),
            createUnderlines({ state, view, ask }),
            createCurrentLine({ state, view }),
            ...(ask
              ? [
                  createHover({ view, ask }),
                  createSignature({ state, view, ask }),
                  createDefinitions({ apputils, state, view, ask, panelOf }),
                ]
              : []),
          ].map(create => guarded("editor", create));
          const factory = options =>
            codemirror.EditorExtensionRegistry.createImmutableExtension(all.map(create => create(options) ?? []));
          registry.addExtension({ name: "tfrt", factory });
        },
      ];
    }),
    plugin("completer", async () => {
      const [completer, services] = await modules(shared, "@jupyterlab/completer", "@jupyterlab/services");
      return [
        [completer.ICompletionProviderManager],
        [],
        (manager, { restored }) => provideCompletions({ completer, manager, ask: createAsk(services), restored }),
      ];
    }),
    plugin("renderer", async () => {
      const [notebook, rendermime, services, widgets] = await modules(
        shared,
        "@jupyterlab/notebook",
        "@jupyterlab/rendermime",
        "@jupyterlab/services",
        "@lumino/widgets",
      );
      return [
        [rendermime.IRenderMimeRegistry],
        [notebook.INotebookTracker],
        (registry, tracker) => {
          const runs = createRuns({ services, tracker });
          registry.addFactory(createRenderer(widgets, runs), BEFORE_WIDGETS);
          runs.start();
        },
      ];
    }),
    plugin("link", async () => {
      const [notebook] = await modules(shared, "@jupyterlab/notebook");
      return [
        [notebook.INotebookTracker],
        [],
        (_, app) => {
          if (source) app.restored.then(() => openProgram(app, source));
        },
      ];
    }),
  ]);
  return found.filter(each => each !== null);
}

/**
 * Return a plugin, or null if `create()` fails, as it does if a module is missing.
 *
 * `create()` returns the services that the plugin requires, the services that it can do without, and its action.  The
 * action is called with all these services, followed by the application.
 */
async function plugin(name, create) {
  try {
    const [requires, optional, action] = await create();
    return {
      id: `tfrt-nb-labextension:${name}`,
      autoStart: true,
      requires,
      optional,
      activate: guarded(name, (app, ...found) => action(...found, app)),
    };
  } catch (problem) {
    complain(name, problem);
    return null;
  }
}

/** The newest shared version of each package. */
function modules(shared, ...names) {
  return Promise.all(
    names.map(async name => {
      const versions = shared[name];
      if (!versions) throw new Error(`${name} is not shared`);
      const newest = Object.keys(versions)
        .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
        .pop();
      return (await versions[newest].get())();
    }),
  );
}

function guarded(name, action) {
  return (...args) => {
    try {
      return action(...args);
    } catch (problem) {
      complain(name, problem);
      return undefined;
    }
  };
}

function complain(name, problem) {
  console.warn(`tfrt-nb: no ${name} in this JupyterLab: ${problem}`);
}
