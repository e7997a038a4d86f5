//! Circles of imports between the files of a crate.
//!
//! A file imports another if one of its paths leads to an item that stands there; re-exports are followed. Parent and
//! child modules may name each other, as is Rust's custom. Tests are left out, and so are the insides of macros.

use super::{sources, text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// A module's path within its crate; the crate's root is empty.
type Module = Vec<String>;

/// One file of a crate.
#[derive(Debug)]
struct SourceFile {
    path: PathBuf,
    /// The paths that its code names, absolute within the crate.
    named: Vec<Module>,
    /// The names that it re-exports, with the paths behind them.
    exported: BTreeMap<String, Module>,
}

/// Groups of files that import each other in a circle, each in order of its paths.
///
/// # Panics
/// If a file cannot be read or is no Rust.
pub fn circles(source: &Path) -> Vec<Vec<PathBuf>> {
    let files: BTreeMap<Module, SourceFile> = sources(source)
        .into_iter()
        .filter(|path| !is_of_tests(path))
        .map(|path| (module_of(source, &path), path))
        .map(|(module, path)| (module.clone(), SourceFile::read(path, &module)))
        .collect();
    let modules: Vec<&Module> = files.keys().collect();
    let arrows: Vec<BTreeSet<usize>> = modules
        .iter()
        .map(|&module| {
            let targets = files[module].named.iter().filter_map(|path| definition(&files, path, 0));
            let others = targets.filter(|target| !target.starts_with(module) && !module.starts_with(target));
            others.filter_map(|target| modules.binary_search(&&target).ok()).collect()
        })
        .collect();
    components(&arrows)
        .into_iter()
        .map(|group| group.iter().map(|&i| files[modules[i]].path.clone()).collect())
        .collect()
}

fn is_of_tests(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
        || path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"))
}

fn module_of(source: &Path, path: &Path) -> Module {
    let relative = path.strip_prefix(source).unwrap_or(path).with_extension("");
    let mut module: Module = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

impl SourceFile {
    fn read(path: PathBuf, module: &Module) -> Self {
        let code = text(&path);
        let syntax = match syn::parse_file(&code) {
            Ok(syntax) => syntax,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let mut reader = Reader { module: module.clone(), named: Vec::new(), exported: BTreeMap::new() };
        reader.visit_file(&syntax);
        Self { path, named: reader.named, exported: reader.exported }
    }
}

/// Collects the paths of a file.
struct Reader {
    module: Module,
    named: Vec<Module>,
    exported: BTreeMap<String, Module>,
}

impl Reader {
    /// A path of the code as a path within the crate; `None` for that of another crate or of a local name.
    fn absolute(&self, segments: &[String]) -> Option<Module> {
        let mut module = match segments.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            _ => return None,
        };
        for segment in segments {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => {
                    module.pop()?;
                }
                name => module.push(name.to_owned()),
            }
        }
        Some(module)
    }

    fn read_use(&mut self, tree: &syn::UseTree, prefix: &mut Vec<String>, is_public: bool) {
        let (name, alias) = match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.read_use(&path.tree, prefix, is_public);
                prefix.pop();
                return;
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, prefix, is_public);
                }
                return;
            }
            syn::UseTree::Glob(_) => (None, None),
            syn::UseTree::Name(name) => (Some(name.ident.to_string()), None),
            syn::UseTree::Rename(rename) => (Some(rename.ident.to_string()), Some(rename.rename.to_string())),
        };
        let mut segments = prefix.clone();
        segments.extend(name.clone().filter(|name| name != "self"));
        // `use child::Name` begins at a child of this module.
        let from_child = || [&["self".to_owned()], &segments[..]].concat();
        let Some(path) = self.absolute(&segments).or_else(|| self.absolute(&from_child())) else { return };
        if let Some(name) = alias.or(name).filter(|_| is_public) {
            self.exported.insert(name, path.clone());
        }
        self.named.push(path);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_of_tests =
            module.attrs.iter().any(|attribute| attribute.path().is_ident("cfg")) && module.ident == "tests";
        if !is_of_tests {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        self.read_use(&item.tree, &mut Vec::new(), is_public);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.named.extend(self.absolute(&segments));
        visit::visit_path(self, path);
    }
}

/// The module whose file has the item at a path: re-exports are followed, `None` where nothing of the crate stands
/// there.
fn definition(files: &BTreeMap<Module, SourceFile>, path: &[String], depth: u32) -> Option<Module> {
    // Deeper than any chain of re-exports: a name that stands for itself would have no end.
    const DEPTH_MAX: u32 = 8;
    let known = (0..=path.len()).rev().map(|length| &path[..length]).find(|prefix| files.contains_key(*prefix))?;
    let next = path.get(known.len()).and_then(|name| files[known].exported.get(name));
    match next.filter(|target| depth < DEPTH_MAX && target[..] != path[..=known.len()]) {
        Some(target) => definition(files, target, depth + 1),
        None => Some(known.to_vec()),
    }
}

/// Strongly connected components of more than one file: those that can reach each other.
fn components(arrows: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..arrows.len())
        .map(|start| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(file) = open.pop() {
                open.extend(arrows[file].iter().filter(|&&next| seen.insert(next)));
            }
            seen
        })
        .collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for file in 0..arrows.len() {
        if groups.iter().any(|group| group.contains(&file)) {
            continue;
        }
        let mutual = |&other: &usize| reached[file].contains(&other) && reached[other].contains(&file);
        let group: Vec<usize> = (0..arrows.len()).filter(mutual).collect();
        if group.len() > 1 {
            groups.push(group);
        }
    }
    groups
}
