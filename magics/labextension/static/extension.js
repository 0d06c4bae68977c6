// The plugins.  Each needs modules that JupyterLab shares; where one is missing or different, that
// plugin is left out with a line on the console, and the notebook works as it would without us.

import { createColours } from "./colours.js";
import { createCurrentLine } from "./current.js";
import { createRenderer } from "./renderer.js";
import { createRuns } from "./runs.js";
import { createServices } from "./services.js";
import { createUnderlines } from "./underlines.js";

// ipywidgets has -10: an output that has both is ours, trusted or not.
const BEFORE_WIDGETS = -20;

export async function createPlugins(shared) {
  const found = await Promise.all([
    optional("colours", async () => {
      const [codemirror, language, state, view] = await modules(
        shared, "@jupyterlab/codemirror", "@codemirror/language", "@codemirror/state", "@codemirror/view");
      return editorPlugin("colours", codemirror, () => createColours({ language, state, view }));
    }),
    optional("underlines", async () => {
      const [codemirror, notebook, state, view] = await modules(
        shared, "@jupyterlab/codemirror", "@jupyterlab/notebook", "@codemirror/state", "@codemirror/view");
      const underlines = (tracker) => createUnderlines({ state, view, ask: tracker ? createServices(tracker) : null });
      return editorPlugin("underlines", codemirror, underlines, [notebook.INotebookTracker]);
    }),
    optional("current line", async () => {
      const [codemirror, state, view] = await modules(
        shared, "@jupyterlab/codemirror", "@codemirror/state", "@codemirror/view");
      return editorPlugin("current-line", codemirror, () => createCurrentLine({ state, view }));
    }),
    optional("renderer", async () => {
      const [notebook, rendermime, services, widgets] = await modules(
        shared, "@jupyterlab/notebook", "@jupyterlab/rendermime", "@jupyterlab/services", "@lumino/widgets");
      return {
        id: "tfrt-nb-labextension:renderer",
        description: "Draws %%tfrt runs, live and saved.",
        autoStart: true,
        requires: [rendermime.IRenderMimeRegistry],
        optional: [notebook.INotebookTracker],
        activate: guarded("renderer", (_, registry, tracker) => {
          const runs = createRuns({ services, tracker });
          registry.addFactory(createRenderer(widgets, runs), BEFORE_WIDGETS);
          runs.start();
        }),
      };
    }),
  ]);
  return found.filter((plugin) => plugin !== null);
}

/** A plugin that adds an extension of CodeMirror's own kind to each editor: `create(...services)`
 *  gives the function that makes it from the editor's options. */
function editorPlugin(name, codemirror, create, services = []) {
  const factory = (extensionFor) => (options) =>
    codemirror.EditorExtensionRegistry.createImmutableExtension(guarded(name, extensionFor)(options) ?? []);
  return {
    id: `tfrt-nb-labextension:${name}`,
    description: `Adds ${name} to %%tfrt cells.`,
    autoStart: true,
    requires: [codemirror.IEditorExtensionRegistry],
    optional: services,
    activate: guarded(name, (_, registry, ...found) =>
      registry.addExtension({ name: `tfrt-${name}`, factory: factory(create(...found)) })),
  };
}

/** The newest shared version of each package. */
function modules(shared, ...names) {
  return Promise.all(names.map(async (name) => {
    const versions = shared[name];
    if (!versions) throw new Error(`${name} is not shared`);
    const newest = Object.keys(versions).sort((a, b) => a.localeCompare(b, "en", { numeric: true })).pop();
    return (await versions[newest].get())();
  }));
}

async function optional(name, create) {
  try {
    return await create();
  } catch (problem) {
    complain(name, problem);
    return null;
  }
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
