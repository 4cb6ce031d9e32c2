//! The structs and their fields, from the table `structs.in`, which is made.

use k8s_openapi::{api, apimachinery};

use super::fields::{Field, Fields, Known, Missing, read_fields};
use super::left_out::Within;
use super::read::Blank;

include!("../../structs.in");
