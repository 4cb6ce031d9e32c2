//! Carries out what people write, and keeps the truth about it.

use std::sync::Arc;

use informer_testkit::{Object, Resource};

use crate::{
    object::{NAMESPACES, Sighting, TIERS, body},
    plan::Write,
    run::World,
    truth::Written,
};

impl World {
    pub(crate) fn write(&mut self, write: Write) {
        match write {
            Write::Put { namespace, name } => {
                let tier = TIERS[usize::from(self.serial % 3 == 2)];
                self.put(namespace, name, tier);
            }
            Write::Delete { namespace, name } => self.delete(namespace, name),
            Write::Recreate { namespace, name } => {
                self.delete(namespace, name);
                self.put(namespace, name, TIERS[0]);
            }
            Write::Flash { namespace, name } => {
                self.delete(namespace, name);
                self.put(namespace, name, TIERS[0]);
                self.delete(namespace, name);
            }
            Write::FlipLabel { namespace, name } => {
                let present = self.present(namespace, name);
                let first = present.is_some_and(|present| present.tier() == TIERS[0]);
                self.put(namespace, name, TIERS[usize::from(first)]);
            }
            Write::Wipe { namespace } => {
                for name in 0..crate::object::NAMES {
                    self.delete(namespace, name);
                }
            }
        }
    }

    fn present(&self, namespace: usize, name: usize) -> Option<Sighting> {
        let config_maps = Resource::config_maps();
        let found = self
            .server
            .get(&config_maps, NAMESPACES[namespace], &format!("k{name}"));
        found.ok().as_ref().and_then(sighting)
    }

    fn put(&mut self, namespace: usize, name: usize, tier: &str) {
        self.serial += 1;
        let (namespace, name) = (NAMESPACES[namespace], format!("k{name}"));
        let object = body(namespace, &name, tier, self.serial);
        let config_maps = Resource::config_maps();
        let written = match self.server.get(&config_maps, namespace, &name) {
            Ok(_) => self.server.replace(&config_maps, object),
            Err(_) => self.server.create(&config_maps, object),
        };
        let written = written.expect("a write without conditions succeeds");
        self.note(&written, false);
    }

    fn delete(&mut self, namespace: usize, name: usize) {
        let name = format!("k{name}");
        let deleted = self
            .server
            .delete(&Resource::config_maps(), NAMESPACES[namespace], &name);
        if let Ok(deletion) = deleted {
            self.note(deletion.object(), true);
        }
    }

    fn note(&mut self, object: &Object, is_deletion: bool) {
        let seen = sighting(object).expect("config maps can be decoded");
        self.truth.record(Written {
            version: object.version(),
            key: seen.key(),
            uid: object.uid().to_owned(),
            serial: seen.serial(),
            tier: seen.tier().to_owned(),
            is_deletion,
            is_undone: false,
        });
    }
}

pub(crate) fn sighting(object: &Object) -> Option<Sighting> {
    object
        .decode()
        .ok()
        .map(|decoded| Sighting(Arc::new(decoded)))
}
